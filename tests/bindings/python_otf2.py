# SPDX-License-Identifier: MIT
"""python_otf2.py ARCHIVE RECORDING: OTF2's own reader sees balanced regions, and the known wait with its length."""
import sys

import otf2
import upmu

archive, directory = sys.argv[1:]
open_, spans = {}, []
with otf2.reader.open(archive) as trace:
    assert trace.timer_resolution == 10**9
    for location, event in trace.events:
        stack = open_.setdefault(location.name, [])
        if isinstance(event, otf2.events.Enter):
            stack.append((event.region.name, event.time))
        elif isinstance(event, otf2.events.Leave):
            name, begin = stack.pop()
            assert event.region.name == name, (event.region.name, name)
            spans.append((location.name, location.group.name, name, event.time - begin))
assert not any(open_.values()), open_
(till,) = (lock for lock in upmu.Recording(directory).locks if lock.name == "the till")
((thread, process, _, ns),) = (span for span in spans if span[2] == "wait for mutex the till")
assert thread.startswith("customer ") and "scene" in process and abs(ns - till.waits.total_ns) < 1000, (thread, process, ns)
assert any(span[2] == "shopping" and span[3] >= ns for span in spans), spans
