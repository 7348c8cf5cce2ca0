# SPDX-License-Identifier: MIT
"""upmu metrics: both formats by a strict parser, and the values against the program and the report."""
import os
import re
import signal
import subprocess

from lib import CORPUS, SCENE, UPMU, WORK, connect, wait_for

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|(?=\}))')


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text + "}", at)
        assert match, text
        assert match[1] not in labels, text
        labels[match[1]] = match[2]
        at = match.end()
    return labels


def parse(text, openmetrics):
    """Families by name: (type, {(sample, labels): value}). Asserts all rules of the format that our output can break."""
    assert text.endswith("\n")
    lines = text.split("\n")[:-1]
    if openmetrics:
        assert lines.pop() == "# EOF"
    families, seen, current = {}, set(), None
    for line in lines:
        meta = re.fullmatch(rf"# (TYPE|HELP|UNIT) ({NAME}) (.+)", line)
        if meta:
            kind, name, rest = meta.groups()
            if kind == "TYPE":
                assert name not in families and rest in ("counter", "gauge"), line
                current = families[name] = (rest, {})
                described, family = set(), name
            assert name == family and kind not in described and not current[1], line
            described.add(kind)
            assert kind != "UNIT" or (openmetrics and family.endswith("_" + rest)), line
            continue
        sample = re.fullmatch(rf"({NAME})\{{(.*)\}} ([0-9]+(?:\.[0-9]+)?)", line)
        assert sample and current and {"TYPE", "HELP"} <= described, line
        assert sample[1] == family + ("_total" if openmetrics and current[0] == "counter" else ""), line
        assert current[0] != "counter" or sample[1].endswith("_total"), line
        key = (sample[1], tuple(sorted(labels_of(sample[2]).items())))
        assert key not in seen, "twice: " + line
        seen.add(key)
        current[1][key] = float(sample[3])
    assert families
    return families


def metrics(*words, openmetrics=True):
    done = subprocess.run([UPMU, "metrics", *words], check=True, capture_output=True, text=True)
    return parse(done.stdout, openmetrics)


def values(families, sample, **labels):
    return [value for _, samples in families.values() for (name, have), value in samples.items()
            if name == sample and labels.items() <= dict(have).items()]


def all_stopped(process):
    states = []
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/stat", encoding="ascii", errors="replace") as file:
            states.append(file.read().rsplit(")", 1)[1].split()[0])
    return set(states) == {"T"}


with connect() as client:
    busy = client.start([SCENE, "busy", "600000"], output=f"{WORK}/busy")
    pid = client.status(busy)["pid"]
    wait_for(lambda: values(metrics(str(pid)), "upmu_lock_waits_total", lock="the till") not in ([], [0.0]), "waits")
    before = metrics(str(pid))
    wait_for(lambda: values(metrics(str(pid)), "upmu_lock_waits_total", lock="the till")
             > values(before, "upmu_lock_waits_total", lock="the till"), "more waits")
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: all_stopped(pid), "all threads stopped")  # a stopped process has the same values in both formats
    first = metrics(str(pid))
    text = metrics("--prometheus", str(pid), openmetrics=False)
    assert values(first, "upmu_lock_waits_total") == values(text, "upmu_lock_waits_total")
    assert values(first, "upmu_events_total") == values(text, "upmu_events_total") == [client.status(busy)["processes"][0]["events"]]
    assert values(first, "upmu_recording") == [1.0] and values(first, "upmu_deadlocked_threads") == [0.0]
    assert values(first, "upmu_thread_cpu_seconds_total", thread="customer")[0] > 0
    assert len(values(first, "upmu_thread_context_switches_total", thread="customer", kind="voluntary")) == 1
    assert sum(values(first, "upmu_lock_wait_seconds_total", lock="the till")) > 0
    assert len(values(metrics("--top", "0", str(pid)), "upmu_lock_waits_total")) == 0
    os.kill(pid, signal.SIGCONT)

    stuck = client.start([CORPUS, "cross_normal", f"{WORK}/stuck.pid"], output=f"{WORK}/stuck")
    stuck_pid = client.status(stuck)["pid"]
    wait_for(lambda: values(metrics(str(stuck_pid)), "upmu_deadlocked_threads") == [2.0], "two deadlocked threads")

    # All processes, to a file that is replaced as a whole.
    subprocess.run([UPMU, "metrics", "-o", f"{WORK}/metrics"], check=True)
    with open(f"{WORK}/metrics", encoding="utf-8") as file:
        pids = {dict(labels)["pid"] for _, samples in parse(file.read(), True).values() for _, labels in samples}
    assert {str(pid), str(stuck_pid)} <= pids, pids
    os.kill(stuck_pid, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not client.status(busy)["running"], "the end of the program")

gone = subprocess.run([UPMU, "metrics", str(os.getpid())], check=False, capture_output=True, text=True)
assert gone.returncode == 1 and gone.stdout == "" and gone.stderr.startswith("upmu: "), gone
