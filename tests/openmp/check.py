#!/usr/bin/env python3
"""Compares upmu report --openmp --json with what the program has measured: check.py RUNTIME WHAT THREADS ROUNDS JSON OUTPUT SOURCE.

Ends with "again: ..." if a time is off, for which another attempt may be made, and with "wrong: ..." if anything else is.
"""
import json
import sys

LOCKS = {"critical_ns", "lock_ns", "nest_lock_ns"}


def wrong(text):
    sys.exit("wrong: " + text)


def again(text):
    sys.exit("again: " + text)


def equal(what, expected, found):
    if expected != found:
        wrong(f"{what}: expected {expected}, found {found}")


def line_of(source, mark):
    with open(source, encoding="utf-8") as f:
        lines = f.read().splitlines()
    return next(i + 1 for i, text in enumerate(lines) if mark in text)


def check_sums(region):
    """The time of each thread has no rest, and is that of the region."""
    for m in region["threads"]:
        equal("waits of a thread", m["wait_ns"], sum(m["waits"].values()))
        equal("time of a thread", m["time_ns"], m["work_ns"] + m["wait_ns"] + m["nested_ns"])
        if m["count"] == region["count"] and abs(m["time_ns"] - region["elapsed_ns"]) > region["elapsed_ns"] * 0.01 + 1000:
            wrong(f"a thread's time {m['time_ns']} in a region of {region['elapsed_ns']}")
    equal("work of a region", region["work_ns"], sum(m["work_ns"] for m in region["threads"]))
    equal("waits of a region", region["wait_ns"], sum(m["wait_ns"] for m in region["threads"]))


def check_threads(process):
    for t in process["threads"]:
        equal("time of a thread", t["time_ns"], t["work_ns"] + t["wait_ns"] + t["serial_ns"] + t["idle_ns"])
        equal("waits of a thread", t["wait_ns"], sum(t["waits"].values()))


def check_work(regions, truth, delays):
    """Work is what the program measured, and what lies between its clock and the events: there a thread may lose its CPU."""
    for number, ns in truth.items():
        found = sum(m["work_ns"] for r in regions for m in r["threads"] if m["number"] == number)
        if found < ns:
            wrong(f"work of thread {number}: {found}, but the program has measured {ns}")
        if found > ns * 1.01 + 500000 + delays[number]:
            again(f"work of thread {number}: {found}, the program has measured {ns}, and {delays[number]} without a CPU")


def constructs(process, name):
    return [c for c in process["constructs"] if c["construct"] == name]


def check_constructs(process, runtime, what, threads, rounds, region):
    each, waits = threads * rounds, region["waits"]
    if what == "imbalance":
        equal("runs", rounds, region["count"])
        if waits["join_ns"] == 0 or waits["implicit_barrier_ns"] != 0 or region["gain_ns"] == 0:
            wrong(f"waits of an imbalance: {waits}, gain {region['gain_ns']}")
    elif what == "barriers":
        name = "explicit-barrier" if runtime == "libomp" else "barrier"
        equal("barriers", [each], [c["count"] for c in constructs(process, name)])
        if waits["explicit_barrier_ns" if runtime == "libomp" else "barrier_ns"] == 0:
            wrong(f"waits at barriers: {waits}")
    elif what == "critical":
        c = constructs(process, "critical")
        equal("criticals", [each], [x["count"] for x in c])
        if c[0]["held_ns"] < each * 1000000:
            wrong(f"critical was held for {c[0]['held_ns']}")
        if waits["critical_ns"] != c[0]["ns"]:
            wrong(f"waits for critical: {waits['critical_ns']} and {c[0]['ns']}")
    elif what == "locks":
        line = line_of(sys.argv[7], "line of set")
        c = [x for x in constructs(process, "lock") if x["line"] == line]
        equal("locks", [each], [x["count"] for x in c])
        if c[0]["held_ns"] < each * 1000000 or c[0]["function"] != "locks":
            wrong(f"lock was held for {c[0]['held_ns']} in {c[0]['function']}")
        equal("nested locks", 2 * each, sum(x["count"] for x in constructs(process, "nest-lock")))
    elif what == "ordered":
        equal("ordered", [each], [x["count"] for x in constructs(process, "ordered") if x["held_ns"]])
        if waits["ordered_ns"] == 0:
            wrong(f"waits of ordered: {waits}")
    elif what == "tasks":
        tasks = constructs(process, "task")
        if region["tasks"] < 2 * rounds + 1 or any(c["function"] != "tasks" for c in tasks):
            wrong(f"{region['tasks']} tasks of {[c['function'] for c in tasks]}")
        equal("waits for tasks", 1, sum(c["count"] for c in constructs(process, "taskwait")))
    elif what == "loops":
        if waits["implicit_barrier_ns"] == 0:
            wrong(f"waits at the ends of loops: {waits}")


def check_nested(process, threads, rounds):
    outer = next(r for r in process["regions"] if r["parent"] is None and r["function"] == "nested")
    inner = next(r for r in process["regions"] if r["parent"] is not None)
    equal("parent", outer["region"], inner["parent"])
    equal("inner runs", threads, inner["count"])
    equal("inner team", 2, inner["team"])
    if outer["nested_ns"] < threads * 2000000 or inner["work_ns"] < threads * 3000000:
        wrong(f"nested {outer['nested_ns']}, work {inner['work_ns']}")
    for r in (outer, inner):
        check_sums(r)


def main():
    runtime, what, threads, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with open(sys.argv[5], encoding="utf-8") as f:
        process = json.load(f)["processes"][0]
    with open(sys.argv[6], encoding="utf-8") as f:
        words = [line.split() for line in f]
    truth = {int(w[1]): int(w[2]) for w in words if w[0] == "work"}
    delays = {int(w[1]): int(w[2]) for w in words if w[0] == "delay"}
    elapsed = next(int(w[1]) for w in words if w[0] == "region")
    equal("events of unknown regions", 0, process["strays"])
    equal("regions that have not ended", 0, process["unfinished"])
    equal("method", "ompt" if runtime == "libomp" else "wrappers", process["method"])
    check_threads(process)
    if what == "nested":
        check_nested(process, threads, rounds)
        return
    region = next(r for r in process["regions"] if r["function"] == what)
    line = line_of(sys.argv[7], f"line of {what} ")
    if region["line"] not in (line, line + 1):
        wrong(f"{what} is in line {line}, not {region['line']}")
    equal("name", f"{what}, OMP parallel region subject.c:{region['line']}", region["name"])
    equal("threads", list(range(threads)), [m["number"] for m in region["threads"]])
    check_sums(region)
    check_constructs(process, runtime, what, threads, rounds, region)
    check_work([region], truth, delays)
    if what not in ("imbalance", "reduction") and not elapsed * 0.99 - 500000 - delays[0] <= region["elapsed_ns"] <= elapsed:
        again(f"region of {region['elapsed_ns']}, the program has measured {elapsed}")


main()
