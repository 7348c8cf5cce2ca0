# SPDX-License-Identifier: MIT
"""Counter sets: events by name, counted for a thread, process, command or CPU."""
import ctypes
import os
import time
from ctypes import byref
from typing import Any, Iterable, NamedTuple, Optional, Sequence, Union

from . import _declarations as c
from ._native import Error, check, core, sized, table, text


class Value(NamedTuple):
    """A count and its status. `value` is None unless the status is "exact" or "scaled"; `reason` is why, with a remedy."""
    name: str
    value: Optional[int]
    status: str
    raw: int
    enabled_ns: int
    running_ns: int
    reason: str


class Metric(NamedTuple):
    """A metric; `value` is None where one of its events has no number."""
    name: str
    value: Optional[float]
    status: str
    unit: str


class Set:
    """A list of events counted for one target: the calling thread, unless `pid`, `tid`, `cpu` or `command` is given.

        with upmu.Set("instructions,page-faults") as counters:
            work()
        for value in counters.read():
            print(value.name, value.value, value.status)
    """

    def __init__(self, events: "Union[str, Iterable[str]]", *, pid: Optional[int] = None, tid: Optional[int] = None,
                 cpu: Optional[int] = None, command: Optional[Sequence[str]] = None, inherit: Optional[bool] = None,
                 strict: bool = False, together: bool = False, backend: Optional[str] = None) -> None:
        if sum(target is not None for target in (pid, tid, cpu, command)) > 1:
            raise ValueError("pid, tid, cpu and command exclude each other")
        self._set: Any = ctypes.c_void_p()
        self._began = self._seconds = 0.0
        opts = sized(c.UpmuSetOpts, backend=backend.encode() if backend else None)
        opts.target = (c.UPMU_TARGET_PROCESS if pid is not None else c.UPMU_TARGET_TASK if tid is not None else
                       c.UPMU_TARGET_CPU if cpu is not None else
                       c.UPMU_TARGET_COMMAND if command is not None else c.UPMU_TARGET_THREAD)
        opts.pid = pid if pid is not None else tid if tid is not None else 0
        opts.cpu = cpu or 0
        opts.flags = (c.UPMU_SET_STRICT if strict else 0) | (c.UPMU_SET_TOGETHER if together else 0)
        if inherit is not None:
            own = opts.target == c.UPMU_TARGET_THREAD
            opts.flags |= c.UPMU_SET_INHERIT if own and inherit else c.UPMU_SET_NO_INHERIT if not own and not inherit else 0
        if command is not None:
            words = [os.fsencode(word) for word in command]
            arguments = (ctypes.c_char_p * (len(words) + 1))(*words, None)
            opts.argv = ctypes.cast(arguments, ctypes.c_void_p)
        names = events if isinstance(events, str) else ",".join(events)
        check(core.upmu_set_open(byref(self._set), names.encode(), byref(opts)))

    def _opened(self) -> Any:
        if not self._set:
            raise Error("the set is closed", c.UPMU_E_STATE)
        return self._set

    def start(self) -> "Set":
        check(core.upmu_set_start(self._opened()))
        self._began = time.perf_counter()
        return self

    def stop(self) -> None:
        check(core.upmu_set_stop(self._opened()))
        self._seconds = self.seconds
        self._began = 0.0

    def reset(self) -> None:
        check(core.upmu_set_reset(self._opened()))
        self._seconds = 0.0
        self._began = time.perf_counter() if self._began else 0.0

    @property
    def seconds(self) -> float:
        """Wall time between start() and stop(), or until now."""
        return self._seconds + (time.perf_counter() - self._began if self._began else 0.0)

    @property
    def names(self) -> "list[str]":
        """The events as counted, with their modifiers."""
        return [text(core.upmu_set_name(self._set, i)) for i in range(len(self))]

    def __len__(self) -> int:
        return core.upmu_set_event_count(self._set)

    def _raw(self) -> Any:
        values = (c.UpmuValue * max(len(self), 1))()
        check(core.upmu_set_read(self._opened(), values, len(values)))
        return values

    def read(self) -> "list[Value]":
        """The values of all events, in their order; running or stopped."""
        return [_value(name, raw, text(core.upmu_set_reason(self._set, i)))
                for i, (name, raw) in enumerate(zip(self.names, self._raw()))]

    def metric(self, name: str) -> Metric:
        """A metric ("ipc") of the events counted so far."""
        names = [n.encode() for n in self.names]
        out = c.UpmuMetricValue()
        check(core.upmu_metric_eval(name.encode(), (ctypes.c_char_p * len(names))(*names), self._raw(), len(names),
                                    self.seconds, byref(out)))
        unit = next((text(m.unit) for m in table(core.upmu_metric_at, c.UpmuMetricInfo) if text(m.name) == name), "")
        counted = out.status in (c.UPMU_EXACT, c.UPMU_SCALED)
        return Metric(name, out.value if counted else None, text(core.upmu_status_name(out.status)), unit)

    def wait(self) -> int:
        """Wait for the end of the command. Returns its exit code, or minus the signal that ended it."""
        status = ctypes.c_int()
        check(core.upmu_set_wait(self._opened(), byref(status)))
        return os.waitstatus_to_exitcode(status.value)

    @property
    def alive(self) -> bool:
        """Whether the target still exists."""
        return check(core.upmu_set_alive(self._opened())) == 1

    def close(self) -> None:
        core.upmu_set_close(self._set)
        self._set = ctypes.c_void_p()

    def __enter__(self) -> "Set":
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def __del__(self) -> None:
        if getattr(self, "_set", None):
            self.close()


def _value(name: str, raw: Any, reason: str) -> Value:
    counted = raw.status in (c.UPMU_EXACT, c.UPMU_SCALED)
    return Value(name, raw.value if counted else None, text(core.upmu_status_name(raw.status)), raw.raw, raw.enabled,
                 raw.running, reason)


class Event(NamedTuple):
    """An event name on this machine."""
    name: str
    summary: str
    unit: str
    match: str
    encoding: str
    note: str


_MATCHES = {c.UPMU_MATCH_ABSENT: "absent", c.UPMU_MATCH_EXACT: "exact", c.UPMU_MATCH_APPROXIMATE: "approximate"}


def event(name: str, cpu: Optional[str] = None) -> Event:
    """An event of this machine or, on any machine, of a CPU ("3A6000"); `match` is "absent" if the CPU has none."""
    info = sized(c.UpmuEventInfo)
    found = (core.upmu_event_find(name.encode(), byref(info)) if cpu is None else
             core.upmu_cpu_event_find(cpu.encode(), name.encode(), byref(info)))
    if found != c.UPMU_E_UNSUPPORTED or not info.name:
        check(found)
    return Event(*(text(t) or "" for t in (info.name, info.summary, info.unit)), _MATCHES[info.match],
                 text(info.encoding) or "", text(info.note) or "")


def events() -> "list[str]":
    """The event names of this machine: the vendor-neutral set, then those of the kernel."""
    names = []
    for i in range(core.upmu_event_count()):
        name = ctypes.c_char_p()
        check(core.upmu_event_name_at(i, byref(name)))
        names.append(text(name.value))
    return names


class Diagnosis(NamedTuple):
    """What works on this machine, or how to fix what does not."""
    topic: str
    state: str
    text: str
    remedy: str


def diagnose() -> "list[Diagnosis]":
    """Examine the machine, as `upmu doctor`."""
    states = {c.UPMU_DIAGNOSIS_OK: "ok", c.UPMU_DIAGNOSIS_LIMITED: "limited", c.UPMU_DIAGNOSIS_MISSING: "missing",
              c.UPMU_DIAGNOSIS_INFO: "info"}
    found = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(c.UpmuDiagnosis), ctypes.c_void_p)
    def add(finding: Any, _: Any) -> int:
        f = finding.contents
        found.append(Diagnosis(text(f.topic), states[f.state], text(f.text), text(f.remedy)))
        return 0

    check(core.upmu_diagnose(add, None))
    return found
