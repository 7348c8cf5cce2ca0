# SPDX-License-Identifier: MIT
"""Timelines in OTF2, the format of Vampir and Score-P, by OTF2's own Python package.

    python3 -m upmu otf2 DIR OUT        OUT becomes a folder with OUT/traces.otf2

Regions, waits and calls of MPI are OTF2 regions, threads are locations, marks are regions of no length, messages of MPI are those of
OTF2. Debian: python3-otf2.
"""
import json
import os
import tempfile

from . import _declarations as c
from ._native import Error, analysis, check, path

ROLES = {"region": "FUNCTION", "wait": "CRITICAL", "mpi": "FUNCTION"}
UNKNOWN = 2 ** 64 - 1


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
        self.regions, self.writers, self.locations, self.groups = {}, {}, {}, {}
        self.machine = trace.definitions.system_tree_node("machine")

    def region(self, name, category):
        if name not in self.regions:
            role = getattr(self.otf2.RegionRole, ROLES.get(category, "ARTIFICIAL"))
            paradigm = self.otf2.Paradigm.MPI if category == "mpi" else self.otf2.Paradigm.USER
            self.regions[name] = self.trace.definitions.region(name, region_role=role, paradigm=paradigm)
        return self.regions[name]

    def message(self, event, places, comm):
        """Half of one: OTF2 has the threads of a communicator as ranks, in this order."""
        writer, of = self.writer(event["pid"], event["tid"]), event["args"]
        other = places.get((event["id"], "f" if event["ph"] == "s" else "s"))
        if other is None:
            return
        write = writer.mpi_send if event["ph"] == "s" else writer.mpi_recv
        write(nanoseconds(event), other, comm, of["tag"], of.get("bytes", UNKNOWN))

    def communicator(self, threads, ranks):
        for pid, rank in {thread[0]: ranks[thread] for thread in threads}.items():
            self.names[pid, None] = f"rank {rank}: {self.names.get((pid, None), '')}"
        kind, make = self.otf2.GroupType, self.trace.definitions
        for thread in threads:
            self.writer(*thread)
        places = [self.locations[thread] for thread in threads]
        make.group("ranks", group_type=kind.COMM_LOCATIONS, paradigm=self.otf2.Paradigm.MPI, members=places)
        group = make.group("MPI_COMM_WORLD", group_type=kind.COMM_GROUP, paradigm=self.otf2.Paradigm.MPI,
                           members=list(range(len(places))))
        return make.comm("MPI_COMM_WORLD", group=group)

    def writer(self, pid, tid):
        if pid not in self.groups:
            self.groups[pid] = self.trace.definitions.location_group(
                self.names.get((pid, None), f"process {pid}"), system_tree_parent=self.machine)
        if (pid, tid) not in self.writers:
            self.locations[pid, tid] = self.trace.definitions.location(self.names.get((pid, tid), f"thread {tid}"),
                                                                       group=self.groups[pid])
            self.writers[pid, tid] = self.trace.event_writer_from_location(self.locations[pid, tid])
        return self.writers[pid, tid]


def message_ends(timeline):
    """The threads that send or receive, by rank, their ranks, and where among them each message ends: by its number and "s" or "f"."""
    halves = [e for e in timeline if e["ph"] in "sf"]
    ends = {(e["id"], e["ph"]): (e["pid"], e["tid"]) for e in halves}
    ranks = {}
    for e in halves:
        other, rank = ends.get((e["id"], "f" if e["ph"] == "s" else "s")), e["args"]["to rank" if e["ph"] == "s" else "from rank"]
        if other:
            ranks[other] = rank
    threads = sorted(ranks, key=lambda thread: (ranks[thread], thread))
    order = {thread: i for i, thread in enumerate(threads)}
    return threads, ranks, {key: order[thread] for key, thread in ends.items() if thread in order}


def export(directory, out):
    """Writes the timeline of a recording. Returns the numbers of threads and of regions, waits and calls."""
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
        threads, ranks, places = message_ends(timeline)
        comm = archive.communicator(threads, ranks) if threads else None
        for event in timeline:
            if event["ph"] in "sf":
                archive.message(event, places, comm)
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
