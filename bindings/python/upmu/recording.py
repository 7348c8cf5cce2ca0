# SPDX-License-Identifier: MIT
"""Recordings: threads, locks, waits, regions and deadlocks as rows."""
import os
from ctypes import byref, c_void_p
from typing import Any, Iterator, List, NamedTuple, Optional

from . import _declarations as c
from ._native import Error, analysis, check, path, sized, table, text
from .columns import Events


class Process(NamedTuple):
    """A process; `lost` events were dropped while recording, for the causes in `lost_note`."""
    pid: int
    host: str
    command: str
    kernel: str
    start_ns: int
    complete: bool
    events: int
    lost: int
    lost_note: str


class Waits(NamedTuple):
    """A sum of waits; those that had not ended at the end of the recording are apart."""
    count: int
    total_ns: int
    max_ns: int
    unfinished: int
    unfinished_ns: int


class Thread(NamedTuple):
    """A thread. `ended` is False if it still ran at the end of the recording, `stopped_ns` the part of its life without recording."""
    pid: int
    tid: int
    name: str
    begin_ns: int
    end_ns: int
    ended: bool
    blocked_ns: int
    switches: Optional[int]
    events: int
    stopped_ns: int


class Lock(NamedTuple):
    """A lock, condition variable, semaphore, barrier, or joined thread; longest waits first.

    `contended` is None for arrivals at a barrier that were only counted,
    `exact` is whether the counts are exact (otherwise lower bounds), `holds_complete` whether the hold times are all there.
    """
    pid: int
    type: str
    address: int
    name: str
    group: str
    acquisitions: int
    contended: Optional[int]
    exact: bool
    waits: Waits
    holds: int
    hold_ns: int
    hold_max_ns: int
    holds_complete: bool
    longest_ns: int
    longest_waiter: Optional[int]
    longest_holder: Optional[int]
    longest_site: str


class Region(NamedTuple):
    """A region of a process, all threads together. `counts` has None for counters without a number."""
    pid: int
    name: str
    count: int
    wall_ns: int
    min_ns: Optional[int]
    max_ns: int
    unfinished: int
    counts: "dict[str, Optional[int]]"


class Row(NamedTuple):
    """A row of the timeline: a wait, region, acquisition, release, wake-up, mark, or event of a thread or object."""
    number: int
    kind: str
    event: str
    begin_ns: int
    duration_ns: int
    finished: bool
    pid: int
    tid: int
    thread: str
    object: str
    object_type: str
    holder: str
    site: str
    text: str
    result: int


class DeadlockThread(NamedTuple):
    """A deadlocked thread: the lock it waits for and the locks it holds."""
    tid: int
    name: str
    wants: str
    site: str
    held: "list[str]"


class Deadlock(NamedTuple):
    """Blocked threads that no thread can unblock; `behind` wait for these."""
    pid: int
    kind: str
    certainty: str
    threads: "list[DeadlockThread]"
    behind: "list[DeadlockThread]"
    alive: bool
    suppressed: bool


class Acquisition(NamedTuple):
    """An acquisition of `lock` while `held` was held."""
    tid: int
    thread: str
    lock: str
    held: str
    site: str
    pid: int


class LockCycle(NamedTuple):
    """Locks acquired in contradictory orders; `kind` "inversion" could deadlock."""
    pid: int
    kind: str
    acquisitions: "list[Acquisition]"
    suppressed: bool


def _call(symbol: Any) -> str:
    """A symbol as "function file.c:12"."""
    name = text(symbol.function) or f"{os.path.basename(text(symbol.module) or '?')}+{symbol.offset:#x}"
    where = f" {os.path.basename(text(symbol.file))}:{symbol.line}" if symbol.file else ""
    return name + where


def _waits(w: Any) -> Waits:
    return Waits(w.count, w.total_ns, w.max_ns, w.unfinished, w.unfinished_ns)


def _number(value: Any) -> Optional[int]:
    return value.value if value.status in (c.UPMU_EXACT, c.UPMU_SCALED) else None


def _known(value: int) -> Optional[int]:
    return value if value != c.UPMU_NO_VALUE else None


class _Object:
    """An object of the C library that is closed with this one."""

    _close = ""

    def __init__(self) -> None:
        self._handle = c_void_p()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and analysis is not None:
            getattr(analysis, self._close)(self._handle)


class _Overview(_Object):
    _close = "upmu_overview_close"

    def __init__(self, directory: bytes, debug_dir: Optional[bytes], from_ns: int, to_ns: int) -> None:
        super().__init__()
        opts = sized(c.UpmuOverviewOpts, debug_dir=debug_dir, from_ns=from_ns, to_ns=to_ns)
        check(analysis.upmu_overview_open(byref(self._handle), directory, byref(opts)))


class _Timeline(_Object):
    _close = "upmu_timeline_close"

    def __init__(self, directory: bytes, opts: Any) -> None:
        super().__init__()
        check(analysis.upmu_timeline_open(byref(self._handle), directory, byref(opts)))
        self.overview = c_void_p(analysis.upmu_timeline_overview(self._handle))


class _Deadlocks(_Object):
    _close = "upmu_deadlocks_close"

    def __init__(self, directory: bytes, opts: Any) -> None:
        super().__init__()
        check(analysis.upmu_deadlocks_open(byref(self._handle), directory, byref(opts)))
        self.overview = c_void_p(analysis.upmu_deadlocks_overview(self._handle))


class _Names:
    """Names of threads, objects and call sites of an overview, each looked up once."""

    def __init__(self, overview: Any) -> None:
        self._overview = overview
        self._sites: "dict[Any, str]" = {}
        self.threads = [(t.process, t.pid, t.tid, text(t.name))
                        for t in table(analysis.upmu_overview_thread_at, c.UpmuOverviewThread, overview)]
        self.objects: "list[Any]" = []
        self._addresses: "dict[Any, str]" = {}
        for o in table(analysis.upmu_overview_object_at, c.UpmuOverviewObject, overview):
            kind = text(analysis.upmu_object_type_name(o.type))
            name = text(o.name) or f"{kind} {o.address:#x}"
            self.objects.append((name, kind))
            self._addresses[o.process, o.address] = name

    def thread(self, index: int) -> Any:
        return self.threads[index] if index < len(self.threads) else (0, 0, 0, "")

    def object(self, index: int) -> Any:
        return self.objects[index] if index < len(self.objects) else ("", "")

    def address(self, process: int, address: int) -> str:
        return self._addresses.get((process, address), f"{address:#x}" if address else "")

    def site(self, process: int, address: int, stack: int = 0) -> str:
        key = process, address, stack
        if key not in self._sites:
            symbol = sized(c.UpmuSymbol)
            code = address and analysis.upmu_overview_line_at(self._overview, process, address, stack, byref(symbol))
            self._sites[key] = _call(symbol) if address and code == 0 else ""
        return self._sites[key]


class Recording:
    """A recording, read at the first use of each property.

        recording = upmu.Recording("trace")
        for lock in recording.locks:
            print(lock.name, lock.waits.total_ns)

    Rows are named tuples: `pandas.DataFrame(recording.locks)` is a table. Every event, as columns or rows: `events()`.
    `from_ns` and `to_ns`, counted from the start of the recording, limit threads, locks, regions and sums to a stretch; `to_ns` 0: to the end.
    """

    def __init__(self, directory: Any, debug_dir: Optional[Any] = None, from_ns: int = 0, to_ns: int = 0) -> None:
        self.directory = os.fspath(directory)
        self._path = path(directory)
        self._debug_dir = None if debug_dir is None else path(debug_dir)
        self._stretch = (from_ns, to_ns)
        self._overview_of_it: Optional[_Overview] = None
        if not os.path.isdir(self._path):
            raise Error(f"cannot read the recording \"{self.directory}\": it is not a directory", c.UPMU_E_IO)

    @property
    def _overview(self) -> Any:
        if self._overview_of_it is None:
            self._overview_of_it = _Overview(self._path, self._debug_dir, *self._stretch)
        return self._overview_of_it._handle

    def _site(self, process: int, address: int, stack: int = 0) -> str:
        symbol = sized(c.UpmuSymbol)
        if not address or analysis.upmu_overview_line_at(self._overview, process, address, stack, byref(symbol)) != 0:
            return ""
        return _call(symbol)

    @property
    def totals(self) -> "dict[str, int]":
        """Totals of the recording, by the names of the fields of struct upmu_overview_totals."""
        raw = sized(c.UpmuOverviewTotals)
        check(analysis.upmu_overview_totals_read(self._overview, byref(raw)))
        return {name: getattr(raw, name) for name, _ in raw._fields_ if name != "size"}

    @property
    def damages(self) -> List[str]:
        """Messages about parts that could not be read."""
        n = analysis.upmu_overview_damage_count(self._overview)
        return [text(analysis.upmu_overview_damage_message(self._overview, i)) for i in range(n)]

    @property
    def processes(self) -> List[Process]:
        return [Process(p.pid, text(p.host), text(p.command), text(p.kernel), p.start_ns, bool(p.complete), p.events, p.lost,
                        text(p.lost_note) or "")
                for p in table(analysis.upmu_overview_process_at, c.UpmuTraceProcess, self._overview)]

    @property
    def threads(self) -> List[Thread]:
        """Threads, most blocked time first."""
        return [Thread(t.pid, t.tid, text(t.name), t.begin_ns, t.end_ns, bool(t.ended), t.blocked_ns, _number(t.switches),
                       t.events, t.stopped_ns)
                for t in table(analysis.upmu_overview_thread_at, c.UpmuOverviewThread, self._overview)]

    @property
    def locks(self) -> List[Lock]:
        """Locks and other objects, longest waits first."""
        return [Lock(o.pid, text(analysis.upmu_object_type_name(o.type)), o.address, text(o.name), text(o.group),
                     o.acquisitions, _known(o.contended), bool(o.counts_exact), _waits(o.waits), o.holds, o.hold_ns, o.hold_max_ns,
                     bool(o.holds_complete), o.longest.ns, o.longest.waiter or None, o.longest.holder or None,
                     self._site(o.process, o.longest.waiter_site, o.longest.waiter_stack))
                for o in table(analysis.upmu_overview_object_at, c.UpmuOverviewObject, self._overview)]

    @property
    def regions(self) -> List[Region]:
        """Regions, longest wall time first."""
        found = []
        for r in table(analysis.upmu_overview_region_at, c.UpmuOverviewRegion, self._overview):
            names = [text(analysis.upmu_overview_counter_name(self._overview, r.process, i)) for i in range(r.n_counts)]
            counts = {name: _number(r.counts[i].sum) for i, name in enumerate(names)}
            found.append(Region(r.pid, text(r.name), r.count, r.wall_ns, r.min_ns if r.count else None, r.max_ns,
                                r.unfinished, counts))
        return found

    def rows(self, kinds: Optional[Any] = None, *, thread: Optional[str] = None, object: Optional[str] = None,
             from_ns: int = 0, to_ns: int = 0, skip: int = 0, limit: int = 0) -> List[Row]:
        """Rows of the timeline in the order of time, by kind ("wait", "region", "acquire", "release", "wake", "thread",
        "mark", "object"), name or id of a thread, and name or address of an object. `from_ns` and `to_ns` count from the start
        of the recording. A row has about 200 bytes in memory: use `limit` and `skip` for long recordings, or `events()`."""
        opts = sized(c.UpmuTimelineOpts, from_ns=from_ns, to_ns=to_ns, skip=skip, rows=limit, kinds=_row_kinds(kinds),
                     debug_dir=self._debug_dir, thread=thread.encode() if thread else None,
                     object=object.encode() if object else None)
        timeline = _Timeline(self._path, opts)
        names = _Names(timeline.overview)
        return list(_rows(timeline, names))

    @property
    def waits(self) -> List[Row]:
        """All waits, in the order of their begins."""
        return self.rows("wait")

    def events(self, kinds: Optional[Any] = None, **filters: Any) -> Events:
        """Every event, or those of some kinds ("lock-block"): iterable, .to_numpy(), .to_pandas(), and for
        pyarrow.table(), duckdb, polars. `filters` are start_ns, stop_ns (since 1970), pid, tid, columns."""
        return Events(self._path, kinds, **filters)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.events().__arrow_c_stream__(requested_schema)

    def _deadlocks(self, suppressions: Optional[Any]) -> _Deadlocks:
        return _Deadlocks(self._path, sized(c.UpmuDeadlocksOpts, debug_dir=self._debug_dir,
                                            suppressions=None if suppressions is None else path(suppressions)))

    def deadlocks(self, suppressions: Optional[Any] = None) -> List[Deadlock]:
        """Deadlocks, certain ones first."""
        d = self._deadlocks(suppressions)
        names = _Names(d.overview)
        found = []
        for i, raw in enumerate(table(analysis.upmu_deadlocks_at, c.UpmuDeadlock, d._handle)):
            threads = [_deadlock_thread(d, names, raw.process, i, k, t) for k, t in
                       enumerate(table(analysis.upmu_deadlocks_thread_at, c.UpmuDeadlockThread, d._handle, i))]
            found.append(Deadlock(raw.pid, text(analysis.upmu_deadlock_kind_name(raw.kind)),
                                  text(analysis.upmu_deadlock_certainty_name(raw.certainty)), threads[:raw.n_threads],
                                  threads[raw.n_threads:], bool(raw.alive), bool(raw.suppressed)))
        return found

    def lock_cycles(self, suppressions: Optional[Any] = None) -> List[LockCycle]:
        """Cycles in the lock order, the most severe first. "inversion" could become a deadlock."""
        d = self._deadlocks(suppressions)
        names = _Names(d.overview)
        found = []
        for i, raw in enumerate(table(analysis.upmu_deadlocks_cycle_at, c.UpmuLockCycle, d._handle)):
            acquisitions = [
                Acquisition(a.tid, text(analysis.upmu_overview_thread_name(d.overview, a.process, a.tid)),
                            names.address(a.process, a.lock), names.address(a.process, a.held),
                            _stack_site(d, names, a.process, a.stack), a.pid)
                for a in table(analysis.upmu_deadlocks_acquisition_at, c.UpmuLockAcquisition, d._handle, i)]
            found.append(LockCycle(raw.pid, text(analysis.upmu_lock_cycle_class_name(raw.class_number)), acquisitions,
                                   bool(raw.suppressed)))
        return found

    def export(self, format: str, file: Any) -> int:
        """Write the recording in a format of `upmu export --formats` to a path or an open file. Returns the bytes written."""
        result = sized(c.UpmuExportResult)
        if hasattr(file, "fileno"):
            file.flush()
            check(analysis.upmu_export(self._path, format.encode(), file.fileno(), None, byref(result)))
        else:
            with open(file, "wb") as out:
                check(analysis.upmu_export(self._path, format.encode(), out.fileno(), None, byref(result)))
        return result.bytes

    def __repr__(self) -> str:
        return f"upmu.Recording({self.directory!r})"


def _names_of(function: Any) -> List[str]:
    """The names of an enumeration of the C library, which ends with "?"."""
    names: List[str] = []
    while text(function(len(names))) != "?":
        names.append(text(function(len(names))))
    return names


def _row_kinds(kinds: Optional[Any]) -> int:
    """The bits of kinds of rows."""
    known = {name: i for i, name in enumerate(_names_of(analysis.upmu_row_kind_name))}
    bits = 0
    for kind in [kinds] if isinstance(kinds, str) else kinds or ():
        if kind not in known:
            raise Error(f"no kind of rows is called {kind!r}; there are {', '.join(known)}", c.UPMU_E_NAME)
        bits |= 1 << known[kind]
    return bits


def _rows(timeline: Any, names: _Names) -> Iterator[Row]:
    kinds = _names_of(analysis.upmu_row_kind_name)
    events: "dict[int, str]" = {}
    for r in table(analysis.upmu_timeline_row_at, c.UpmuTimelineRow, timeline._handle):
        if r.event not in events:
            events[r.event] = text(analysis.upmu_trace_kind_name(r.event))
        _, pid, tid, thread = names.thread(r.thread)
        object_name, object_type = names.object(r.object)
        holder = names.thread(r.holder)[3] if r.holder != c.UPMU_NO_INDEX else ""
        yield Row(r.number, kinds[r.kind], events[r.event], r.begin_ns, r.end_ns - r.begin_ns, bool(r.ended), pid, tid,
                  thread, object_name, object_type, holder, names.site(r.process, r.site, r.stack), text(r.text), r.result)


def _stack_site(d: Any, names: _Names, process: int, stack: int) -> str:
    """The relevant call of a stack."""
    raw = sized(c.UpmuTraceStack)
    if not stack or analysis.upmu_overview_stack_find(d.overview, process, stack, byref(raw)) != 0 or not raw.n_frames:
        return ""
    return names.site(process, raw.frames[0], stack)


def _deadlock_thread(d: Any, names: _Names, process: int, i: int, k: int, t: Any) -> DeadlockThread:
    held = [names.address(process, h.lock)
            for h in table(analysis.upmu_deadlocks_held_at, c.UpmuDeadlockHeld, d._handle, i, k)]
    return DeadlockThread(t.tid, text(t.name), names.address(process, t.object), names.site(process, t.site, t.stack), held)


