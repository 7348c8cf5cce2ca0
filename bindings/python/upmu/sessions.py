# SPDX-License-Identifier: MIT
"""Lock tracing of this process, and the names of its threads."""
import ctypes
import os
import threading
from ctypes import byref
from typing import Any, Optional

from . import _declarations as c
from ._native import Error, check, path, sized

MODES = {"contended": c.UPMU_SYNC_CONTENDED, "holders": c.UPMU_SYNC_HOLDERS, "all": c.UPMU_SYNC_ALL,
         "counts": c.UPMU_SYNC_COUNTS}


def _tracer() -> Any:
    """The lock tracer of this process. It must be loaded before libpthread's functions are bound, so not by this module."""
    program = ctypes.CDLL(None)
    if not hasattr(program, "upmu_sync_begin"):
        raise Error("the lock tracer is not loaded in this process. Run the program with `upmu record -- python3 PROGRAM`, or "
                    "with `python3 -m upmu run PROGRAM`.", c.UPMU_E_STATE)
    for name, (result, arguments) in c.FUNCTIONS["sync"].items():
        function = getattr(program, name)
        function.restype, function.argtypes = result, arguments
    return program


class sync_session:
    """Records the lock and thread events of the whole process while it lives, as a context manager.

        with upmu.sync_session("trace", mode="holders"):
            run_threads()

    The interpreter must have been started with the lock tracer: `python3 -m upmu run program.py`. Threads are recorded with
    their Python names.
    """

    def __init__(self, trace: Optional[Any] = None, *, mode: str = "contended", stack_depth: int = 0, sched: bool = False,
                 counters: bool = False, requests: bool = False) -> None:
        if mode not in MODES:
            raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
        self._opts = sized(c.UpmuSyncOpts, mode=MODES[mode], stack_depth=stack_depth, sched=sched, counters=counters,
                           requests=requests, trace=None if trace is None else path(trace))
        self._tracer = _tracer()

    def __enter__(self) -> "sync_session":
        check(self._tracer.upmu_sync_begin(byref(self._opts)))
        name_threads()
        return self

    def __exit__(self, *_: Any) -> None:
        check(self._tracer.upmu_sync_end())


def name_lock(lock: int, name: str) -> None:
    """Name a lock by its address, for reports."""
    _tracer().upmu_lock_name(lock, name.encode())


def short_name(name: str) -> bytes:
    """At most the 15 bytes that Linux permits; of a long name the begin and the end, where pools have their numbers."""
    raw = name.encode()
    return raw if len(raw) <= 15 else raw[:6] + b"~" + raw[-8:]


_set_name = ctypes.CDLL(None).pthread_setname_np
_set_name.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_named = threading.Lock()


def _name(thread: threading.Thread) -> None:
    # The first thread has the name of the program, which `top` and `ps` show.
    if thread.ident and thread.ident != threading.main_thread().ident:
        _set_name(thread.ident, short_name(thread.name))


def name_threads() -> None:
    """Give the threads of `threading`, running and later ones, their Python names in the system and in recordings.

    Python 3.14 and later does so itself.
    """
    with _named:
        if not getattr(threading.Thread, "_upmu_names", False):
            hook = threading.Thread._set_native_id  # called in the new thread before its work

            def set_native_id(self: threading.Thread) -> None:
                hook(self)
                self._ident = threading.get_ident()  # type: ignore[attr-defined]
                _name(self)

            if not hasattr(threading, "_set_name") and not hasattr(threading.Thread, "_set_os_name"):
                threading.Thread._set_native_id = set_native_id  # type: ignore[method-assign]
            threading.Thread._upmu_names = True  # type: ignore[attr-defined]
    for thread in threading.enumerate():
        _name(thread)


if os.environ.get("UPMU_SYNC") or os.environ.get("UPMU_TRACE"):
    name_threads()
