# SPDX-License-Identifier: MIT
"""Timelines in OTF2, the format of Vampir and Score-P, by OTF2's own Python package.

    python3 -m upmu otf2 DIR OUT        OUT becomes a folder with OUT/traces.otf2

Regions and waits are OTF2 regions, threads are locations, marks are regions of no length. Debian: python3-otf2.
"""
import json
import os
import tempfile

from . import _declarations as c
from ._native import Error, analysis, check, path

ROLES = {"region": "FUNCTION", "wait": "CRITICAL"}


def events(directory):
    """The timeline of a recording as Chrome's trace events, which are nested and sorted."""
    with tempfile.TemporaryFile() as file:
        check(analysis.upmu_export(path(directory), b"chrome", file.fileno(), None, None))
        file.seek(0)
        return json.load(file)["traceEvents"]


def nanoseconds(event):
    return round(event["ts"] * 1000)


class Archive:
    """An OTF2 archive being written: definitions are made at their first use."""

    def __init__(self, trace, otf2, names):
        self.trace, self.otf2, self.names = trace, otf2, names
        self.regions, self.writers, self.groups = {}, {}, {}
        self.machine = trace.definitions.system_tree_node("machine")

    def region(self, name, category):
        if name not in self.regions:
            role = getattr(self.otf2.RegionRole, ROLES.get(category, "ARTIFICIAL"))
            self.regions[name] = self.trace.definitions.region(name, region_role=role)
        return self.regions[name]

    def writer(self, pid, tid):
        if pid not in self.groups:
            self.groups[pid] = self.trace.definitions.location_group(
                self.names.get((pid, None), f"process {pid}"), system_tree_parent=self.machine)
        if (pid, tid) not in self.writers:
            self.writers[pid, tid] = self.trace.event_writer(self.names.get((pid, tid), f"thread {tid}"),
                                                             group=self.groups[pid])
        return self.writers[pid, tid]


def export(directory, out):
    """Writes the timeline of a recording. Returns the numbers of threads and of regions and waits."""
    try:
        import otf2
    except ImportError:
        raise Error("OTF2's Python package is not installed. Debian: python3-otf2.", c.UPMU_E_UNSUPPORTED) from None
    if os.path.exists(out):
        raise Error(f"{out} exists already; an archive is a new folder", c.UPMU_E_IO)
    timeline = events(directory)
    names = {(e["pid"], None if e["name"] == "process_name" else e["tid"]): e["args"]["name"] for e in timeline if e["ph"] == "M"}
    spans, open_ = 0, {}
    with otf2.writer.open(out, timer_resolution=10**9) as trace:
        archive = Archive(trace, otf2, names)
        for event in timeline:
            if event["ph"] not in "BEi":
                continue
            writer, now = archive.writer(event["pid"], event["tid"]), nanoseconds(event)
            stack = open_.setdefault((event["pid"], event["tid"]), [])
            if event["ph"] != "E":
                stack.append(archive.region(event["name"], event["cat"]))
                writer.enter(now, stack[-1])
                spans += 1
            if event["ph"] != "B":
                writer.leave(now, stack.pop())
        return len(archive.writers), spans
