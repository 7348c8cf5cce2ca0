# SPDX-License-Identifier: MIT
"""protocol.py UPMU SCENE REQUESTS: CPU time that the server of the protocol takes for a reply, in ms, the 99th percentile of so many requests.

The target is a program that runs, is recorded and waits for locks all the time; the server has a subscriber, too. A view from row 0 on
reads the recording anew in a process of its own, as `upmu report` does: its reply takes as long, so the time that the client waits for
both is shown beside each other, and nothing is judged by it. Other requests are answered meanwhile.
"""
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from upmu.client import Client


def p99_cpu(client, clock, requests, method, **params):
    """99th percentile of the server's CPU time from a request to its reply, ms."""
    spent = []
    for _ in range(requests):
        begin = time.clock_gettime_ns(clock)
        client.request(method, **params)
        spent.append((time.clock_gettime_ns(clock) - begin) / 1e6)
        time.sleep(0.003)
    return sorted(spent)[requests * 99 // 100 - 1]


def waited(work):
    """Median of the time that the call takes, ms."""
    times = []
    for _ in range(5):
        begin = time.monotonic_ns()
        work()
        times.append((time.monotonic_ns() - begin) / 1e6)
    return statistics.median(times)


def main():
    upmu, scene, requests = *sys.argv[1:3], int(sys.argv[3])
    with tempfile.TemporaryDirectory() as directory, Client(command=(upmu, "serve", "--stdio")) as client:
        clock = ~client._process.pid << 3 | 2  # the CPU time of that process, as clock_getcpuclockid() has it
        target = client.start([scene, "busy", "120000"], output=f"{directory}/trace")
        client.request("subscribe", target=target, interval_ms=1000, rows=100)
        time.sleep(1)
        view = {"target": target, "view": "locks", "limit": 100}
        anew = waited(lambda: client.request("view", **view))
        report = waited(lambda: subprocess.run([upmu, "report", "--json", f"{directory}/trace"], stdout=subprocess.DEVNULL, check=True))
        print(f"protocol, next page of a view, p99\t{p99_cpu(client, clock, requests, 'view', **{'from': 1}, **view):.2f}")
        print(f"protocol, deadlocks, p99\t{p99_cpu(client, clock, requests, 'detect', target=target):.2f}")
        print(f"protocol, status, p99\t{p99_cpu(client, clock, requests, 'status', target=target):.2f}")
        print(f"protocol, a view anew, waited\t{anew:.0f}\tupmu report {report:.0f}")
        for process in client.status(target)["processes"]:
            os.kill(process["pid"], signal.SIGKILL)


main()
