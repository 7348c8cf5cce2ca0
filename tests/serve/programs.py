# SPDX-License-Identifier: MIT
"""Programs under the server: started, paused, stopped, watched, deadlocked, attached to; views against `upmu report --json`."""
import json
import os
import signal
import subprocess

from lib import CORPUS, SCENE, UPMU, WORK, client as library, connect, is_alive, refused, wait_for


def report(directory, *options):
    return json.loads(subprocess.run([UPMU, "report", "--json", *options, directory], check=True, capture_output=True).stdout)


def same_as_report(client):
    """All rows of all views are those of the report, page by page."""
    target = client.start([SCENE, "busy", "300"], output=f"{WORK}/same")
    wait_for(lambda: not client.status(target)["running"], "the end of the program")
    facts = report(f"{WORK}/same")
    for view, member in (("locks", "objects"), ("threads", "threads"), ("pairs", "pairs"), ("paths", "paths")):
        rows = list(client.rows(target, view, page=1))
        assert rows == facts[member] and len(rows) > 0, (view, rows, facts[member])
    overview = client.overview(target)
    assert overview["totals"]["events"] == facts["totals"]["events"] > 0
    assert overview["totals"]["begin_ns"] == facts["totals"]["begin_ns"] > 1 << 53
    timeline = subprocess.run([UPMU, "report", "--json", "--view", "timeline", "--type", "wait", "--thread", "customer",
                               "--from", "0.01", f"{WORK}/same"], check=True, capture_output=True).stdout
    chosen = {"view": "timeline", "type": "wait", "thread": "customer", "begin": "0.01"}
    first = client.request("view", target=target, limit=1, **chosen)
    rest = client.request("view", target=target, limit=4000, **{"from": first["next"]}, **chosen)
    assert first["rows"] + rest["rows"] == json.loads(timeline)["rows"], (first, rest)
    assert first["total"] == rest["total"] == len(rest["rows"]) + 1 and rest["next"] is None, (first, rest)
    everything = client.request("view", target=target, view="timeline", limit=1)
    assert everything["total"] > first["total"], (everything, first) # another filter is another document
    refused("failed", client.request, "view", target=target, view="timeline", thread="none of them")
    refused("params", client.request, "view", target=target, view="timeline", type=3)
    path = client.export(target, "csv", f"{WORK}/same.csv")
    assert os.path.getsize(path) > 0
    for seconds in ("x", "-1"):
        refused("failed", client.export, target, "csv", f"{WORK}/none.csv", **{"from": seconds})
    assert not os.path.exists(f"{WORK}/none.csv")
    with open(f"{WORK}/same/command.out", encoding="utf-8") as output:
        assert "records of 1 process" in output.read()


def watched(client):
    """Updates change while the program runs; stop and resume act on the recording, not on the program."""
    target = client.start([SCENE, "busy", "600000"], output=f"{WORK}/watched")
    status = client.status(target)
    pid = status["pid"]
    assert status["running"] and status["recorded"] and status["processes"][0]["mode"] == "holders", status
    other = client.attach(pid=pid)
    assert client.status(other)["dir"] == status["processes"][0]["dir"], status
    waits = 0
    for update in client.updates(target, seconds=0.1):
        waits += sum(lock["waits"] for lock in update["locks"] if lock["name"] == "the till")
        if waits >= 3:
            break
    assert client.stop(target) == 1
    wait_for(lambda: client.status(target)["processes"][0]["mode"] == "stopped", "the recording is stopped")
    assert is_alive(pid)
    assert client.resume(target) == 1
    before = client.status(target)["processes"][0]["events"]
    wait_for(lambda: client.status(target)["processes"][0]["events"] > before, "events after resume")
    assert any(row["name"] == "the till" for row in client.rows(target, "locks"))
    client.detach(other)
    refused("target", client.status, other)
    assert is_alive(pid)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not client.status(target)["running"], "the end of the program")
    refused("failed", lambda: list(client.updates(target, seconds=0.1)))


def paused(client):
    target = client.start([SCENE, "busy", "600000"], output=f"{WORK}/paused", paused=True, env={"A_NAME": "a value"}, cwd=WORK)
    status = client.status(target)
    assert status["processes"][0]["mode"] == "stopped", status
    with open(f"/proc/{status['pid']}/environ", "rb") as file:
        assert b"A_NAME=a value" in file.read().split(b"\0")
    assert os.readlink(f"/proc/{status['pid']}/cwd") == os.path.realpath(WORK)
    assert client.resume(target) == 1
    wait_for(lambda: any(row["name"] == "the till" for row in client.rows(target, "locks")), "the lock")
    os.kill(status["pid"], signal.SIGKILL)


def deadlocked(client):
    """A hanging program: found while it hangs, in updates and by request."""
    target = client.start([CORPUS, "cross_normal", f"{WORK}/stuck.pid"], output=f"{WORK}/stuck")
    found = wait_for(lambda: (d := client.detect(target))["found"] and d["rows"] and d, "the deadlock")
    row = found["rows"][0]
    assert row["certainty"] == "certain" and row["alive"], row
    assert len([thread for thread in row["threads"] if not thread["behind"]]) == 2, row
    assert all(thread["stack"] for thread in row["threads"]), row
    for update in client.updates(target, seconds=0.1):
        if update["deadlocks"]:
            assert len(update["deadlocks"][0]["threads"]) == 2
            break
    os.kill(client.status(target)["pid"], signal.SIGKILL)


def not_recorded(client):
    """A process that is not being recorded is a target without views."""
    with subprocess.Popen(["sleep", "600"]) as process:
        target = client.attach(pid=process.pid)
        status = client.status(target)
        assert not status["recorded"] and status["dir"] is None, status
        refused("failed", client.overview, target)
        refused("failed", lambda: list(client.rows(target, "functions")))
        refused("failed", client.stop, target)
        refused("failed", client.export, target, "csv", f"{WORK}/none.csv")
        top = next(client.updates(target))
        thread, = top["threads"]
        assert thread["name"] == "sleep" and thread["waits"] is None and thread["waited_ns"] is None and top["events"] is None, top
        wait_for(lambda: (next(client.updates(target))["threads"][0]["waits_for"] or {}).get("kind") == "sleep", "what it is asleep in")
        process.kill()
    refused("failed", client.attach, pid=process.pid)


def sampled(client):
    """Samples of a process that is not being recorded, where the kernel permits: from start to stop or detach."""
    with subprocess.Popen([SCENE, "busy", "600000"], stdout=subprocess.DEVNULL) as process:
        try:
            target = client.attach(pid=process.pid)
            folder = f"{WORK}/sampled"
            try:
                started = client.request("start", target=target, output=folder)
            except library.ProtocolError as problem:
                assert problem.name == "failed" and client.status(target)["sampled"] is False, problem
                return
            assert started == {"started": 1, "samples": folder} and client.status(target)["sampled"], started
            wait_for(lambda: list(client.rows(target, "functions")), "a sample, while they are taken")
            refused("failed", client.request, "start", target=target)
            sampler, = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if samples_into(pid, folder)]
            assert client.stop(target) == 1 and not is_alive(sampler) and not client.status(target)["sampled"]
            assert is_alive(process.pid)
            assert list(client.rows(target, "functions", page=1)) == report(folder, "--samples", "--top=10000")["functions"]
            flames = client.export(target, "flamegraph", f"{WORK}/flames.svg", of="samples")
            with open(flames, encoding="utf-8") as file:
                assert "<svg" in file.read()
            # Without a client that could stop them they end with the target.
            client.request("start", target=target, output=folder + "2")
            sampler, = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if samples_into(pid, folder + "2")]
            client.detach(target)
            wait_for(lambda: not is_alive(sampler), "the end of the samples")
        finally:
            process.kill()


def samples_into(pid, folder):
    """Whether a process has the samples file of a directory open."""
    try:
        return any(os.readlink(f"/proc/{pid}/fd/{fd}").startswith(folder + "/") for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def deadlocked_not_recorded(client):
    """Deadlock detection by process id alone."""
    with subprocess.Popen([CORPUS, "cross_normal", f"{WORK}/by_pid.pid"]) as process:
        target = client.attach(pid=process.pid)
        found = wait_for(lambda: (d := client.detect(target))["found"] and d, "the deadlock")
        row = found["rows"][0]
        assert row["certainty"] == "certain" and len(row["threads"]) == 2, row
        assert {t["tid"] for t in row["threads"]} == {t["holder"] for t in row["threads"]}, row
        assert any(frame["function"] == "take_both" and frame["line"] > 0 for frame in row["threads"][0]["stack"]), row
        assert "not being recorded" in found["warnings"], found
        process.kill()


def canceled(client):
    """A request that is ended by another; the reply of each comes."""
    fifo = f"{WORK}/fifo"
    os.mkfifo(fifo)
    target = client.attach(dir=f"{WORK}/same")
    slow = client.send("export", target=target, format="csv", path=fifo)  # blocks: nothing reads the FIFO
    assert client.status(target)["target"] == target
    assert client.cancel(slow)
    assert refused("canceled", client.reply, slow) == "the request was canceled"
    assert not client.cancel(slow)


with connect() as session:
    for part in (same_as_report, watched, paused, deadlocked, not_recorded, sampled, deadlocked_not_recorded, canceled):
        part(session)
