# SPDX-License-Identifier: MIT
"""Clients that are slow, stalled, hostile or killed: bounded memory, and no effect on program, recording and other clients."""
import json
import os
import random
import signal
import socket
import stat
import subprocess

from lib import SCENE, SERVE, UPMU, WORK, client as module, connect, is_alive, refused, wait_for

PATH = f"{WORK}/socket"


def memory(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def raw(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    s.settimeout(120)
    return s


def lines(stream, n):
    file = stream.makefile("rb")
    return [json.loads(file.readline()) for _ in range(n)]


def hostile(server):
    """Whatever comes, each line has one reply, and the server stays."""
    with raw(PATH) as s:
        s.sendall(b"[" * 100000 + b"\n" + b'{"id":1,"method":"hello"}\n')
        deep, hello = lines(s, 2)
        assert deep["error"]["name"] == "parse" and "deep" in deep["error"]["message"] and hello["result"]["pid"] == server.pid
    with raw(PATH) as s:
        before = memory(server.pid)
        for _ in range(64):
            s.sendall(b"x" * (1 << 20))
        s.sendall(b"\n" + b'{"id":2,"method":"hello"}\n')
        long, hello = lines(s, 2)
        assert long["error"]["name"] == "limit" and hello["id"] == 2
        assert memory(server.pid) < before + 8192, "a long line is not kept"
    generator = random.Random(1)
    for _ in range(300):
        text = bytearray(b'{"id": 7, "method": "view", "params": {"target": 1, "view": "locks", "from": 0, "a": ["\\u00e9", 1e5, null]}}')
        for _ in range(generator.randrange(1, 6)):
            text[generator.randrange(len(text))] = generator.randrange(256)
        with raw(PATH) as s:
            s.sendall(bytes(text).replace(b"\n", b" ") + b"\n" + b'{"id":"last","method":"hello"}\n')
            file = s.makefile("rb")
            while json.loads(file.readline())["id"] != "last":
                pass


def stalled(server):
    """A client that reads nothing: its requests stay unread, the others are served."""
    s = raw(PATH)
    s.setblocking(False)
    request = b'{"id":1,"method":"hello"}\n' * 1000
    before, sent = memory(server.pid), 0
    with module.Client(PATH, timeout=120) as other:
        for _ in range(3000):
            try:
                sent += s.send(request)
            except BlockingIOError:
                pass
            if sent > 1 << 25:
                break
        for _ in range(100):
            assert other.request("hello")["pid"] == server.pid
    assert sent < 1 << 25 and memory(server.pid) < before + 16384, (sent, before, memory(server.pid))
    s.close()


def many(_):
    """More connections than there may be are closed; those that end leave their place to others."""
    all_of_them = [raw(PATH) for _ in range(40)]
    replies = []
    for s in all_of_them:
        try:
            s.sendall(b'{"id":1,"method":"hello"}\n')
            replies.append(s.makefile("rb").readline())
        except OSError:  # closed meanwhile
            replies.append(b"")
    assert 0 < sum(1 for r in replies if r) <= 16, replies
    for s in all_of_them:
        s.close()

    def again():
        try:
            with module.Client(PATH, timeout=120) as c:
                return c.server["pid"]
        except (module.ProtocolError, OSError):
            return None
    wait_for(again, "a connection after others have ended")


def limits(_):
    with connect() as c:
        recording = c.start(["true"], output=f"{WORK}/true")
        wait_for(lambda: not c.status(recording)["running"], "the end of true")
        assert refused("limit", lambda: [c.attach(dir=f"{WORK}/true") for _ in range(16)]) == "a client has at most 16 targets"
        os.mkfifo(f"{WORK}/fifo")
        slow = [c.send("export", target=recording, format="csv", path=f"{WORK}/fifo") for _ in range(5)]
        assert refused("limit", c.reply, slow[4]) == "too many requests at a time"
        for number in slow[:4]:
            assert c.cancel(number)
            refused("canceled", c.reply, number)


def permissions(_):
    assert stat.S_IMODE(os.stat(PATH).st_mode) == 0o600
    second = subprocess.run([UPMU, "serve", "--socket", PATH], capture_output=True, text=True, check=False)
    assert second.returncode == 1 and "listening at" in second.stderr, second
    with open(f"{WORK}/file", "w", encoding="ascii"):
        pass
    third = subprocess.run([UPMU, "serve", "--socket", f"{WORK}/file"], capture_output=True, text=True, check=False)
    assert third.returncode == 1 and "is not a socket" in third.stderr and os.path.exists(f"{WORK}/file"), third
    if os.geteuid() != 0:
        print("the check of the user needs root")
        return
    os.chmod(PATH, 0o666)  # what the check of the peer is for
    os.chmod(WORK, 0o755)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        with raw(PATH) as s:
            try:
                s.sendall(b'{"id":1,"method":"hello"}\n')
                os._exit(0 if s.recv(100) == b"" else 1)
            except ConnectionError:
                os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "another user was served"


def killed():
    """Neither a killed client nor a killed server ends the program or its recording."""
    for victim in ("client", "server"):
        directory = f"{WORK}/{victim}"
        with subprocess.Popen(SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            server.stdin.write(json.dumps({"id": 1, "method": "start", "params": {
                "command": [SCENE, "busy", "600000"], "output": directory}}).encode() + b"\n")
            server.stdin.flush()
            pid = json.loads(server.stdout.readline())["result"]["pid"]
            server.stdin.write(b'{"id":2,"method":"subscribe","params":{"target":1,"interval_ms":100}}\n')
            server.stdin.flush()
            assert json.loads(server.stdout.readline())["result"]["subscription"] == 1
            assert json.loads(server.stdout.readline())["method"] == "update"
            if victim == "server":
                server.kill()
            server.stdin.close()
            server.stdout.close()
            server.wait()
        with connect() as c:
            target = c.attach(dir=directory)
            before = c.status(target)["processes"][0]["events"]
            wait_for(lambda: c.status(target)["processes"][0]["events"] > before, "events after the death of the " + victim)
            assert is_alive(pid)
            os.kill(pid, signal.SIGTERM)
            wait_for(lambda: not c.status(target)["running"], "the end of the program")
            assert c.status(target)["processes"][0]["lost"] == 0
        # The recorder has outlived both, and closes the recording.
        wait_for(lambda: "records of 1 process" in open(f"{directory}/command.out", encoding="utf-8").read(), "the summary")


listener = subprocess.Popen([UPMU, "serve", "--socket", PATH])
try:
    wait_for(lambda: os.path.exists(PATH), "the socket")
    for part in (hostile, stalled, many, limits, permissions):
        part(listener)
        assert listener.poll() is None, part.__name__
finally:
    listener.terminate()
assert listener.wait() == 0 and not os.path.exists(PATH)
killed()
