# SPDX-License-Identifier: MIT
"""libupmu for Python: regions, counter sets, lock tracing, and recordings as rows and columns.

    import upmu
    with upmu.region("load"):
        load()
    for lock in upmu.Recording("trace").locks:
        print(lock.name, lock.waits.total_ns)

The page docs/guide/python.md has more. The libraries are found by their names, or in the folder that UPMU_LIBRARY names.
"""
from ._native import Error, core as _core
from .columns import Events
from .recording import (Acquisition, Deadlock, DeadlockThread, Lock, LockCycle, Process, Recording, Region, Row, Thread,
                        Waits)
from .regions import (EventStat, RegionStats, Stat, mark, pause, region, region_names, region_stats, report, resume,
                      setup)
from .sessions import name_lock, name_threads, sync_session
from .sets import Diagnosis, Event, Metric, Set, Value, diagnose, event, events

__all__ = ["Acquisition", "Deadlock", "DeadlockThread", "Diagnosis", "Error", "Event", "EventStat", "Events", "Lock",
           "LockCycle", "Metric", "Process", "Recording", "Region", "RegionStats", "Row", "Set", "Stat", "Thread", "Value",
           "Waits", "diagnose", "event", "events", "mark", "name_lock", "name_threads", "pause", "region", "region_names",
           "region_stats", "report", "resume", "setup", "sync_session", "version"]


def version() -> str:
    """Version of the library in use."""
    return _core.upmu_version().decode()


__version__ = version()
