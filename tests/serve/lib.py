# SPDX-License-Identifier: MIT
"""What the tests of the server share."""
import importlib.util
import os
import time

UPMU, SCENE, CORPUS, WORK = (os.environ[name] for name in ("UPMU", "SCENE", "CORPUS", "work"))
spec = importlib.util.spec_from_file_location("client", os.environ["CLIENT"])
client = importlib.util.module_from_spec(spec)
spec.loader.exec_module(client)
SERVE = [UPMU, "serve", "--stdio"]
TIMEOUT = 120


def connect(**how):
    return client.Client(command=SERVE, timeout=TIMEOUT, **how)


def wait_for(condition, what):
    """Until the condition is true; the limit is for programs that hang."""
    until = time.monotonic() + TIMEOUT
    while not (value := condition()):
        assert time.monotonic() < until, "not in time: " + what
        time.sleep(0.02)
    return value


def refused(name, call, *args, **params):
    """The message of the error of that name, which the call must raise."""
    try:
        value = call(*args, **params)
    except client.ProtocolError as problem:
        assert problem.name == name, (problem.name, str(problem))
        return str(problem)
    raise AssertionError(f"no error {name}, but {value}")


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
