# SPDX-License-Identifier: MIT
"""Compares what babeltrace2 and libupmu's reader make of synchronization events, field by field.

    agree_sync.py DIR SCRIBE       SCRIBE: the sync_scribe program beside this file
"""
import re
import subprocess
import sys

import bt2

KINDS = {
    "lock_block": 16, "lock_acquired": 17, "lock_acquire": 18, "custom_acquire": 18, "sem_acquire": 18,
    "lock_release": 19, "custom_release": 19, "lock_failed": 20, "lock_init": 21, "lock_destroy": 22,
    "lock_counts": 23, "lock_name": 24, "lock_misuse": 25, "cond_wait": 32, "cond_wake": 33, "cond_signal": 34,
    "cond_broadcast": 35, "sem_post": 40, "thread_create": 48, "thread_start": 49, "thread_exit": 50,
    "thread_join": 51, "thread_joined": 52, "thread_name": 53, "thread_detach": 54, "thread_cancel": 55,
    "lock_consistent": 26, "lock_order": 27, "sem_open": 41, "sem_close": 42, "sem_unlink": 43, "sem_value": 44, "barrier_arrive": 56,
    "barrier_leave": 57, "futex_wait": 58, "futex_woken": 59, "futex_wake": 60, "read_acquire": 18, "write_acquire": 18,
    "lock_request": 28, "lock_request_full": 28, "spin_acquire": 18, "read_release": 19, "write_release": 19, "spin_release": 19,
}
MUTEX, COND, SEM, CUSTOM, THREAD, RWLOCK, SPIN, BARRIER, FUTEX = 1, 2, 3, 4, 5, 6, 7, 8, 10
SHARED = 1
NUMBERS = ("object", "object2", "object_type", "result", "peer", "stack", "site", "holder_site", "count", "contended",
           "flags")
# holder_since: our reader gives the time and rounds both ends down.
SLACK_NS = 2


def type_of(name):
    """The type of `object` of an event without such a field."""
    for start, kind in (("cond_", COND), ("thread_", THREAD), ("sem_", SEM), ("custom_", CUSTOM), ("read_", RWLOCK),
                        ("write_", RWLOCK), ("spin_", SPIN), ("barrier_", BARRIER), ("futex_", FUTEX)):
        if name.startswith(start):
            return kind
    return MUTEX


def ours(directory, scribe):
    events, stacks, modules = [], {}, set()
    result = subprocess.run([scribe, "print", directory], check=True, capture_output=True, text=True)
    for line in result.stdout.splitlines():
        kind, rest = line.split(" ", 1)
        if kind == "E":
            fields = dict(word.split("=") for word in rest.split(" "))
            name = bytes.fromhex(fields.pop("name")).decode()
            events.append(({k: int(v) for k, v in fields.items()}, name))
        elif kind == "S":
            numbers = [int(word) for word in rest.split(" ")]
            stacks[numbers[0]] = tuple(numbers[1:])
        else:
            modules.add(tuple(rest.split(" ", 4)))
    return events, stacks, modules


def theirs(directory):
    events, stacks, modules = [], {}, set()
    for message in bt2.TraceCollectionMessageIterator(directory):
        if type(message) is not bt2._EventMessageConst:
            continue
        event, clock, payload = message.event, message.default_clock_snapshot, message.event.payload_field
        if event.name == "stack":
            frames = tuple(int(frame) for frame in payload["frames"])
            stacks.setdefault(int(payload["id"]), (int(payload["method"]), int(payload["truncated"]), *frames))
            continue
        if event.name == "module":
            numbers = tuple(str(int(payload[f])) for f in ("base", "start", "end"))
            modules.add((*numbers, str(payload["build_id"]), str(payload["path"])))
            continue
        name = re.sub("_full$", "", event.name)
        fields = {f: int(payload[f]) if f in payload else 0 for f in NUMBERS}
        if "cpu_ns" in payload:
            fields["contended"] = int(payload["cpu_ns"])
            fields["object2"], fields["peer"] = int(payload["ready_ns"]), int(payload["cpus"])
        if "object_type" not in payload:
            fields["object_type"] = type_of(name)
        if name.startswith("read_"):
            fields["flags"] = SHARED
        fields["tick"], fields["kind"] = int(clock.value), KINDS[name]
        fields["tid"] = int(event.packet.context_field["tid"])
        since = int(payload["holder_since"]) if "holder_since" in payload else 0
        hz = clock.clock_class.frequency
        fields["holder"] = (fields["tick"] - since) * 10**9 // hz if since else 0
        events.append((fields, str(payload["name"]) if "name" in payload else ""))
    return events, stacks, modules


def key(event):
    return event[0]["tick"], event[0]["tid"]


def main():
    directory, scribe = sys.argv[1:]
    mine, my_stacks, my_modules = ours(directory, scribe)
    others, stacks, modules = theirs(directory)
    if len(mine) != len(others) or not mine:
        sys.exit(f"{len(mine)} events by our reader, {len(others)} by babeltrace2")
    for (a, a_name), (b, b_name) in zip(sorted(mine, key=key), sorted(others, key=key)):
        apart = abs(a.pop("holder") - b.pop("holder"))
        if a != b or a_name != b_name or apart > SLACK_NS:
            sys.exit(f"our reader has\n  {a} {a_name}\nbabeltrace2 has\n  {b} {b_name}\nholders {apart} ns apart")
    if {e["kind"] for e, _ in mine} != set(KINDS.values()):
        sys.exit("not every kind was compared")
    if my_stacks != stacks or not stacks:
        sys.exit(f"stacks differ: {my_stacks} and {stacks}")
    if my_modules != modules or not modules:
        sys.exit(f"modules differ: {my_modules} and {modules}")
    print(f"{len(mine)} events, {len(stacks)} stacks, {len(modules)} modules agree in every field")


main()
