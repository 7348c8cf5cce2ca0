# SPDX-License-Identifier: MIT
"""The shared libraries: found, loaded at their first use, and declared."""
import ctypes
import os
import sys
from ctypes import byref, sizeof

from . import _declarations as c

VERSION = "0.2"  # of the C API that _declarations.py describes
SONAMES = {"core": "libupmu.so.0", "sync": "libupmu_sync.so.0", "analysis": "libupmu_analysis.so.0"}


class Error(Exception):
    """A failed call. The text has cause and remedy, `code` is an upmu_code of the C API, `name` that code's name."""

    def __init__(self, message, code=c.UPMU_E_SYSTEM):
        super().__init__(message)
        self.code = code

    @property
    def name(self):
        return next((n for n in vars(c) if n.startswith("UPMU_E_") and getattr(c, n) == self.code), str(self.code))


def folders():
    """Where the libraries may be besides the dynamic linker's own folders, best first."""
    given = os.environ.get("UPMU_LIBRARY")
    if given:
        yield given if os.path.isdir(given) else os.path.dirname(given) or "."
        return
    here = os.path.dirname(os.path.abspath(__file__))
    yield here
    for up in range(3, 6):  # PREFIX/lib/python3/dist-packages/upmu, PREFIX/lib/python3.11/site-packages/upmu
        yield os.path.join(here, *[".."] * up)
    yield ""


def load(library):
    problems = []
    for folder in folders():
        path = os.path.join(folder, SONAMES[library]) if folder else SONAMES[library]
        if folder and not os.path.exists(path):
            continue
        try:
            return ctypes.CDLL(path, use_errno=True)
        except OSError as problem:
            problems.append(str(problem))
    raise Error(f"cannot load {SONAMES[library]}: {'; '.join(problems) or 'not found'}. Install libupmu, or set UPMU_LIBRARY "
                "to the folder it is in.", c.UPMU_E_IO)


class Library:
    """A library whose functions are declared at their first use. Functions that fail raise Error."""

    def __init__(self, library):
        self._library = library
        self._functions = c.FUNCTIONS[library]
        self._handle = None

    def handle(self):
        if self._handle is None:
            if self._library == "core":
                self._handle = load("core")
                found = self.upmu_version().decode()
                if found.split(".")[:2] != VERSION.split("."):
                    raise Error(f"libupmu {found} is loaded, this package is for {VERSION}", c.UPMU_E_VERSION)
            else:
                core.handle()
                self._handle = load(self._library)
        return self._handle

    def __getattr__(self, name):
        if name not in self._functions:
            raise AttributeError(name)
        result, arguments = self._functions[name]
        function = getattr(self._handle or self.handle(), name)
        function.restype, function.argtypes = result, arguments
        setattr(self, name, function)
        return function


core = Library("core")
sync = Library("sync")
analysis = Library("analysis")


def fail(code):
    """Raise the error of the last failed call of this thread."""
    raise Error(core.upmu_error().decode(errors="replace") or core.upmu_strerror(code).decode(), code)


def check(code):
    """`code`, unless it is negative."""
    if code < 0:
        fail(code)
    return code


def text(raw):
    """A C string as str; None for NULL."""
    return None if raw is None else raw.decode(errors="replace")


def path(value):
    return os.fsencode(value)


def sized(struct, **fields):
    """A struct, all zero but its size and the given fields."""
    return struct(size=sizeof(struct), **fields)


def table(function, struct, *arguments):
    """The entries of a C table: each is filled anew, so copy what is kept."""
    i = 0
    while True:
        entry = sized(struct)
        code = function(*arguments, i, byref(entry))
        if code == c.UPMU_E_END:
            return
        check(code)
        yield entry
        i += 1


def warn(message):
    sys.stderr.write(f"upmu: {message}\n")
