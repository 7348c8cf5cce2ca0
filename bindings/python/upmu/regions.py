# SPDX-License-Identifier: MIT
"""Regions: time and counts of marked sections of a program."""
import ctypes
import functools
import inspect
import threading
from ctypes import byref
from typing import Any, Callable, NamedTuple, Optional, TypeVar

from . import _declarations as c
from ._native import check, core, fail, sized, text

Function = TypeVar("Function", bound=Callable[..., Any])

_handle = core.handle()
_gate = memoryview((ctypes.c_uint32 * 1).in_dll(_handle, "upmu_region_gate_")).cast("B").cast("I")
# PyDLL does not release the interpreter lock: the calls are shorter than that takes.
_direct = ctypes.PyDLL(None, handle=_handle._handle)
_enter, _leave, _mark = _direct.upmu_region_enter, _direct.upmu_region_leave, _direct.upmu_mark
_enter.argtypes = _leave.argtypes = [ctypes.c_void_p]
_mark.argtypes = [ctypes.c_char_p]


#: Functions whose call only makes an object: other code of the thread runs between the parts of their bodies.
_LATER = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)


class region:
    """A region, as a context manager or decorator.

        parse = upmu.region("parse")
        with parse:
            ...

        @upmu.region("load")
        def load(): ...

    Equal names give the same object. While regions are off (no UPMU_ variable, no upmu.setup()) it does nothing.
    """

    __slots__ = ("name", "_region", "_address", "__weakref__")
    _known: "dict[str, region]" = {}
    _lock = threading.Lock()

    def __new__(cls, name: str) -> "region":
        known = cls._known.get(name)
        return known if known is not None else cls._make(name)

    @classmethod
    def _make(cls, name: str) -> "region":
        if not isinstance(name, str):
            raise TypeError(f"the name of a region is a str, not {type(name).__name__}; a decorator has one, too: @upmu.region(\"name\")")
        if "\0" in name:
            raise ValueError("the name of a region contains a NUL character")
        with cls._lock:
            if name in cls._known:
                return cls._known[name]
            self = object.__new__(cls)
            self.name = name
            # The recorder keeps the address of the handle: it lives as long as the process.
            self._region = c.UpmuRegion(name=name.encode())
            self._address = ctypes.c_void_p(ctypes.addressof(self._region))
            cls._known[name] = self
            return self

    def __enter__(self, gate: Any = _gate) -> "region":
        if gate[0]:
            _enter(self._address)
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any, gate: Any = _gate) -> None:
        if gate[0]:
            _leave(self._address)

    def __call__(self, function: Function) -> Function:
        if any(is_one(function) for is_one in _LATER):
            raise TypeError(f"{getattr(function, '__name__', function)}() is a coroutine or generator: its body runs after the call has returned. "
                            "Use `with region:` in it, around parts without await and yield")

        @functools.wraps(function)
        def measured(*arguments: Any, **keywords: Any) -> Any:
            with self:
                return function(*arguments, **keywords)
        return measured  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"upmu.region({self.name!r})"

    @property
    def stats(self) -> "RegionStats":
        """Statistics over all threads so far. Raises Error while regions are off and before the first use."""
        return region_stats(self.name)


def mark(label: str) -> None:
    """A mark on the timeline of the calling thread."""
    if _gate[0]:
        check(_mark(label.encode()))


def setup(events: Optional[str] = None, report: Optional[str] = None, output: Optional[str] = None,
          trace: Optional[str] = None, backend: Optional[str] = None) -> bool:
    """Switch regions on, once per process.

    Returns False if the environment (UPMU_EVENTS, ...) has switched them on, and the arguments are ignored.
    """
    def encoded(value: Optional[str]) -> Optional[bytes]:
        return None if value is None else value.encode()

    opts = sized(c.UpmuRegionOpts, events=encoded(events), report=encoded(report), output=encoded(output),
                 trace=encoded(trace), backend=encoded(backend))
    return check(core.upmu_region_setup(byref(opts))) == 0


def pause() -> bool:
    """Pause all regions of the process. Returns whether they were on."""
    return bool(core.upmu_region_switch(0))


def resume() -> bool:
    """Resume regions after pause(). Returns whether they were on."""
    return bool(core.upmu_region_switch(1))


class Stat(NamedTuple):
    """Statistics of one quantity over the instances of a region; None without an instance that has a number."""
    count: int
    sum: int
    min: Optional[int]
    max: Optional[int]
    last: Optional[int]


class EventStat(NamedTuple):
    """Statistics of an event of a region; `without_value` instances have no number."""
    name: str
    stat: Stat
    status: str
    without_value: int


class RegionStats(NamedTuple):
    """Statistics of a region; times in nanoseconds."""
    name: str
    count: int
    open: int
    wall: Stat
    self_ns: int
    threads: int
    events: "dict[str, EventStat]"


def _stat(raw: Any) -> Stat:
    some = raw.count > 0
    return Stat(raw.count, raw.sum, raw.min if some else None, raw.max if some else None, raw.last if some else None)


def region_stats(name: str, thread: int = 0) -> RegionStats:
    """Statistics of a region so far, of one thread (its kernel id) or of all."""
    raw = sized(c.UpmuRegionStats)
    events = (c.UpmuRegionEventStats * c.UPMU_REGION_EVENTS_MAX)()
    events[0].size = ctypes.sizeof(c.UpmuRegionEventStats)
    n = check(core.upmu_region_stats_read_all(name.encode(), thread, byref(raw), events, len(events)))
    found = {}
    for i in range(n):
        event_name = ctypes.c_char_p()
        check(core.upmu_region_event_name_at(i, byref(event_name)))
        title = text(event_name.value)
        found[title] = EventStat(title, _stat(events[i].stat), text(core.upmu_status_name(events[i].status)),
                                 events[i].without_value)
    return RegionStats(name, raw.count, raw.open, _stat(raw.wall), raw.self_ns, raw.threads, found)


def region_names() -> "list[str]":
    """Names of the regions of the process so far, in the order of first use."""
    names = []
    for i in range(core.upmu_region_count()):
        name = ctypes.c_char_p()
        if check(core.upmu_region_name_at(i, byref(name))) == 0:
            names.append(text(name.value))
    return names


def report(fd: int = 2) -> None:
    """Write the report of regions to a descriptor."""
    code = core.upmu_region_report(fd)
    if code < 0:
        fail(code)
