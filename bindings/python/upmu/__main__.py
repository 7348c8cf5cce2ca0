# SPDX-License-Identifier: MIT
"""python3 -m upmu: what works here, the tables of a recording, and programs run with the lock tracer."""
import os
import sys

import upmu

from ._native import SONAMES, folders

USAGE = """usage: python3 -m upmu                       what works on this machine
       python3 -m upmu DIR                   threads, locks and regions of a recording
       python3 -m upmu otf2 DIR OUT          the timeline of a recording for Vampir, in the folder OUT
       python3 -m upmu run PROGRAM [ARG...]  a Python program with the lock tracer, for upmu.sync_session()"""


def milliseconds(ns):
    return f"{ns / 1e6:.3f}"


def print_table(title, header, rows):
    """Columns as wide as their widest cell, numbers to the right."""
    rows = [[str(cell) for cell in row] for row in rows]
    if not rows:
        return
    widths = [max(len(row[i]) for row in [header] + rows) for i in range(len(header))]
    print(f"\n{title}")
    for row in [header] + rows:
        cells = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
        print("  " + "  ".join(cells).rstrip())


def show(directory):
    recording = upmu.Recording(directory)
    for p in recording.processes:
        print(f"process {p.pid} on {p.host}: {p.command}, {p.events} events" + (f", {p.lost} LOST: {p.lost_note}" if p.lost else ""))
    print_table("threads", ["thread", "tid", "lifetime ms", "blocked ms", "events"],
                [(t.name, t.tid, milliseconds(t.end_ns - t.begin_ns - t.stopped_ns), milliseconds(t.blocked_ns), t.events)
                 for t in recording.threads])
    print_table("locks with waits", ["lock", "type", "waits", "total ms", "max ms", "acquisitions"],
                [(lock.name or hex(lock.address), lock.type, lock.waits.count + lock.waits.unfinished,
                  milliseconds(lock.waits.total_ns + lock.waits.unfinished_ns), milliseconds(lock.waits.max_ns),
                  ("" if lock.exact else ">=") + str(lock.acquisitions))
                 for lock in recording.locks if lock.waits.count or lock.waits.unfinished])
    print_table("regions", ["region", "count", "wall ms", "max ms"],
                [(r.name, r.count, milliseconds(r.wall_ns), milliseconds(r.max_ns)) for r in recording.regions])
    for message in recording.damages:
        print(f"upmu: {message}", file=sys.stderr)
    return 1 if recording.damages else 0


def run(program):
    """Execute the program with libupmu_sync preloaded. Nothing is recorded before upmu.sync_session() or UPMU_SYNC."""
    library = next((p for p in (os.path.join(f, SONAMES["sync"]) for f in folders() if f) if os.path.exists(p)),
                   SONAMES["sync"])
    preload = " ".join(filter(None, [library, os.environ.get("LD_PRELOAD")]))
    os.execve(sys.executable, [sys.executable, *program], {**os.environ, "LD_PRELOAD": preload})


def to_otf2(directory, out):
    from .otf2_export import export
    print("{} threads, {} regions and waits".format(*export(directory, out)))
    return 0


def machine():
    print(f"libupmu {upmu.version()}, Python {sys.version.split()[0]}")
    for finding in upmu.diagnose():
        print(f"  {finding.state:8} {finding.text}" + (f"\n           {finding.remedy}" if finding.remedy else ""))
    return 0


def main(words):
    if words[:1] == ["run"] and len(words) > 1:
        return run(words[1:])
    otf2 = words[:1] == ["otf2"] and len(words) == 3
    if not otf2 and (len(words) > 1 or words[:1] in (["-h"], ["--help"], ["run"], ["otf2"])):
        print(USAGE)
        return 0 if words[:1] in (["-h"], ["--help"]) else 2
    try:
        status = to_otf2(*words[1:]) if otf2 else show(words[0]) if words else machine()
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader went away, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except upmu.Error as problem:
        print(f"upmu: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
