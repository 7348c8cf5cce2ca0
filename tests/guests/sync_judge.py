# SPDX-License-Identifier: MIT
"""Compares a recording made where counters and time are exact with what happened: sync_judge.py SCENE REPORT KNOWN

REPORT is what `upmu report --json` makes of it, KNOWN what the recorded program (programs/sync.c) measured itself.
Used by sync.sh."""
import json
import sys

failures = []
# A thread sleeps while its files are opened, before and after what it measures itself (lib/base/private_table.h).
OPENED = 4


def expect(holds, text):
    print(("    " if holds else "    FAILED: ") + text)
    if not holds:
        failures.append(text)


def within(value, low, high, what):
    expect(low <= value <= high, f"{what}: {value:,} (wanted {low:,} to {high:,})")


def near(value, wanted, slack, what):
    within(value, wanted - slack, wanted + slack, what)


def counted(section, name, what):
    """The sum of a counter, which must be exact in each of them."""
    for counter in section["counters"]:
        if counter["name"] == name:
            expect(counter["sum"]["status"] == "exact" and counter["without_value"] == 0,
                   f"{name} {what}: {counter['sum']['status']}, {counter['without_value']} without a value")
            return counter["sum"]["value"] or 0
    sys.exit(f"{name} is not in the report: {section['counters']}")


def lock(report, name):
    found = [o for o in report["objects"] if o["name"] == name]
    if len(found) != 1:
        sys.exit(f"the lock '{name}' is {len(found)} times in the report")
    return found[0]


def whole(report):
    process, = report["processes"]
    expect(process["lost"] == 0 and not report["damages"], f"{process['lost']} records lost, damages {report['damages']}")
    expect(process["complete"], f"the trace has {'its' if process['complete'] else 'no'} proper end")


def sections(report, known):
    """One thread has each of two locks so many times after a wait, and executes more instructions under one than under the
    other: what these sections count more is this, the recorder's own part being the same."""
    OWN = 3000  # instructions of the recorder between two readings of the counters
    AGAIN = 500  # a reading is repeated if the kernel's clock ticks in the middle of it
    rounds, per = known["rounds"], known["cycles_per_instruction"]
    more = rounds * (known["inside_loop"] - known["inside_empty"])
    instructions, cycles = {}, {}
    for name in "empty", "loop":
        for kind in "held", "waited":
            section = lock(report, name)[kind]
            expect(section and section["times"] == rounds, f"{name}: {kind} {section and section['times']} times")
            key = name, kind
            instructions[key] = counted(section, "instructions:u", f"{name} {kind}")
            cycles[key] = counted(section, "cycles:u", f"{name} {kind}")
        within(instructions[name, "waited"], rounds, rounds * OWN, f"{name}: instructions of the waiting thread")
        waited_ns = lock(report, name)["waited"]["ns"]
        expect(waited_ns >= rounds * known["nap_ns"], f"{name}: waited {waited_ns:,} ns")
    within(instructions["empty", "held"], rounds, rounds * OWN, "instructions in empty sections")
    near(instructions["loop", "held"] - instructions["empty", "held"], more, AGAIN,
         "instructions that sections with a loop have more")
    for key, n in instructions.items():
        near(cycles[key], n * per, AGAIN * per, f"{key[0]} {key[1]}: cycles")


def running(report, known):
    """Threads on one processor whose cycles are its time: the switches the kernel recorded, what the threads themselves asked
    the clock, and what the PMU counted are three witnesses of the same."""
    ENDS = 200_000  # ns: of a thread's beginning and end, of which each witness sees another part
    SWITCH, COUNTED = 40_000, 10_000  # ns: of a switch, which the kernel's clock and the PMU give to a thread, the records do not
    threads = {t["tid"]: t for t in report["threads"]}
    total = 0
    for name in "spinner1", "spinner2", "napper":
        t = threads[known[f"{name}.tid"]]
        s, cpu = t["sched"], known[f"{name}.cpu_ns"]
        if not s:
            sys.exit(f"{name}: no record of how it ran: {report['processes'][0]['sched_note']}")
        expect(s["lost"] == 0, f"{name}: {s['lost']} switches lost")
        life = t["end_ns"] - t["begin_ns"]
        parts = s["running_ns"] + s["preempted_ns"] + s["blocked_ns"] + s["unknown_ns"]
        expect(parts == life, f"{name}: {parts:,} ns in all states, a life of {life:,}")
        expect(s["unknown_ns"] == 0, f"{name}: unknown for {s['unknown_ns']:,} ns")
        switches = s["voluntary"] + s["involuntary"]
        near(s["running_ns"], cpu, ENDS + SWITCH * switches, f"{name}: ns running, by its clock")
        near(s["running_ns"], counted(t, "cycles:uk", name), ENDS + COUNTED * switches, f"{name}: ns running, by its cycles")
        within(s["voluntary"], known[f"{name}.voluntary"] - 2, known[f"{name}.voluntary"] + 2 + OPENED, f"{name}: voluntary switches")
        near(s["involuntary"], known[f"{name}.involuntary"], 2, f"{name}: involuntary switches")
        total += s["running_ns"]
        if name == "napper":
            expect(s["voluntary"] >= known["naps"], f"{name}: it napped {known['naps']} times")
            expect(s["blocked_ns"] >= known["naps"] * known["nap_ns"], f"{name}: blocked {s['blocked_ns']:,} ns")
        else:
            expect(s["involuntary"] > 0 and s["preempted_ns"] * 4 > cpu, f"{name}: preempted {s['preempted_ns']:,} ns")
    first = min(t["begin_ns"] for t in threads.values())
    last = max(t["end_ns"] for t in threads.values())
    expect(total <= last - first, f"{total:,} ns running on one processor within {last - first:,}")


def main(scene, report, known):
    with open(report) as f:
        report = json.load(f)
    with open(known) as f:
        known = {key: int(value) for key, value in (line.split() for line in f)}
    print(f"{scene}:")
    whole(report)
    {"sections": sections, "running": running}[scene](report, known)
    if failures:
        sys.exit(f"{scene}: {len(failures)} failed")


main(*sys.argv[1:])
