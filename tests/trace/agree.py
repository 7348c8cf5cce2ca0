# SPDX-License-Identifier: MIT
"""Compares what babeltrace2 and libupmu's reader make of a recording, event by event.

    agree.py DIR DUMP       DUMP: the dump program beside this file

Twice: the text of the babeltrace2 command (time, name, thread, counter values), and every field through its Python
module, from which the full values are put together as described in docs/format.md.
"""
import re
import subprocess
import sys

import bt2

NO_VALUE = 2**64 - 1
EXACT = 1
KINDS = {"region_begin": 1, "region_end": 2, "mark": 3}
# The most that rounding in floating point, as babeltrace2 does it, may differ from exact arithmetic.
SLACK_NS = 2


def kind_of(name):
    return KINDS[re.sub("_(times|full)$", "", name)]


def ours(directory, dump):
    """(ns, (tick, tid, kind, name, values)) of each event, in the order of our reader."""
    result = subprocess.run([dump, directory], check=True, capture_output=True, text=True)
    events = []
    for line in result.stdout.splitlines():
        word = line.split(" ")
        if word[0] != "E":
            continue
        name = b"" if word[6] == "-" else bytes.fromhex(word[6])
        values = tuple(tuple(int(x) for x in v.split(",")) for v in word[7:])
        events.append((int(word[2]), (int(word[1]), int(word[4]), int(word[5]), name.decode(), values)))
    return events


def field_values(payload, name, counters):
    """upmu_value of each counter, from whichever form the event has."""
    values = []
    for i, counter in enumerate(counters):
        value, status, cause = int(payload[counter]), int(payload["status"][i]), int(payload["cause"][i])
        if name.endswith("_full"):
            raw, enabled, running = (int(payload[f][i]) for f in ("raw", "enabled", "running"))
        elif status == EXACT:
            time = int(payload["time"][i]) if name.endswith("_times") else int(payload["time"])
            raw, enabled, running = value, time, time
        else:
            raw, enabled, running = 0, 0, 0
        values.append((value, raw, enabled, running, status, cause))
    return tuple(values)


def through_module(directory):
    events = []
    for message in bt2.TraceCollectionMessageIterator(directory):
        if type(message) is not bt2._EventMessageConst:
            continue
        event, clock = message.event, message.default_clock_snapshot
        env = event.stream.trace.environment
        counters = [str(env["counter_%d_field" % i]) for i in range(int(env["counter_count"]))]
        payload, kind = event.payload_field, kind_of(event.name)
        text = str(payload["text"] if kind == 3 else payload["name"])
        values = () if kind == 3 else field_values(payload, event.name, counters)
        tid = int(event.packet.context_field["tid"])
        events.append((clock.ns_from_origin, (int(clock.value), tid, kind, text, values)))
    return events


LINE = re.compile(
    r'\[(?P<time>[0-9.]+)\] (?:\S+ )?(?P<name>\w+): \{ tid = (?P<tid>-?\d+), .*?\}, '
    r'\{ (?:name|text) = "(?P<text>(?:[^"\\]|\\.)*)"(?P<values>(?:, \w+ = \d+)*?)(?:, status = .*)? \}$'
)


def through_text(directory, *options):
    command = ["babeltrace2", "--no-delta", *options, directory]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    events = []
    for line in result.stdout.splitlines():
        match = LINE.match(line)
        if not match:
            sys.exit(f"babeltrace2 wrote a line of another form: {line}")
        values = tuple(int(v.split(" = ")[1]) for v in match["values"].split(", ")[1:])
        time = match["time"]
        time = int(time) if "." not in time else int(time.replace(".", ""))
        events.append((time, int(match["tid"]), kind_of(match["name"]), match["text"], values))
    return events


def escaped(text):
    """A string as babeltrace2 prints it."""
    for char, shown in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(char, shown)
    return text


def compare(what, left, right):
    if len(left) != len(right):
        sys.exit(f"{what}: {len(left)} events by our reader, {len(right)} by babeltrace2")
    for a, b in zip(left, right):
        if a != b:
            sys.exit(f"{what}: our reader has\n  {a}\nbabeltrace2 has\n  {b}")


def close(left, right):
    return all(abs(a - b) <= SLACK_NS for a, b in zip(left, right))


def main():
    directory, dump = sys.argv[1:]
    mine = ours(directory, dump)
    if [ns for ns, _ in mine] != sorted(ns for ns, _ in mine):
        sys.exit("our reader is not in the order of time")
    # Events of one tick in two threads have no order; everything else must be in the same one.
    mine.sort(key=lambda e: (e[1][0], e[1][1]))
    theirs = sorted(through_module(directory), key=lambda e: (e[1][0], e[1][1]))
    compare("every field", [e for _, e in mine], [e for _, e in theirs])
    if not close([ns for ns, _ in mine], [ns for ns, _ in theirs]):
        sys.exit("times differ by more than rounding")

    brief = [(tick, tid, kind, escaped(name), tuple(v[0] for v in values)) for _, (tick, tid, kind, name, values) in mine]
    cycles = sorted(through_text(directory, "--clock-cycles"), key=lambda e: e[:2])
    compare("text", brief, cycles)
    seconds = sorted(e[0] for e in through_text(directory, "--clock-seconds"))
    if not close(sorted(ns for ns, _ in mine), seconds):
        sys.exit("times in the text differ by more than rounding")
    if not mine:
        sys.exit("no events to compare")
    print(f"{len(mine)} events agree in every field")


main()
