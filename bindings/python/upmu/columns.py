# SPDX-License-Identifier: MIT
"""Events of a recording as columns: for numpy, pandas, and every reader of the Arrow C stream interface."""
import ctypes
import mmap
import weakref
from collections import namedtuple
from ctypes import POINTER, byref, c_char_p, c_int, c_void_p
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Union

from . import _declarations as c
from ._native import Error, analysis, check, path, sized, table, text

_GET_SCHEMA = ctypes.CFUNCTYPE(c_int, POINTER(c.ArrowArrayStream), POINTER(c.ArrowSchema))
_GET_NEXT = ctypes.CFUNCTYPE(c_int, POINTER(c.ArrowArrayStream), POINTER(c.ArrowArray))
_GET_ERROR = ctypes.CFUNCTYPE(c_char_p, POINTER(c.ArrowArrayStream))
_RELEASE = ctypes.CFUNCTYPE(None, c_void_p)
_DAMAGE = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)

_LARGE_PAGE = 1 << 21  # bytes, of most processors
_FORMATS = {b"c": ("b", 1), b"i": ("i", 4), b"I": ("I", 4), b"l": ("q", 8), b"L": ("Q", 8)}  # Arrow: (struct, bytes)


def _release(structure: Any) -> None:
    if structure.release:
        _RELEASE(structure.release)(ctypes.addressof(structure))


class _Batch:
    """An array of the stream: released with the last reference to it."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __del__(self) -> None:
        _release(self.array)


def _buffer(address: Optional[int], size: int) -> memoryview:
    return memoryview((ctypes.c_char * size).from_address(address or 0)).cast("B") if size else memoryview(b"")


def _words(array: Any) -> List[str]:
    """The texts of a dictionary."""
    d = array.dictionary.contents
    offsets = _buffer(_pointer(d.buffers, 1), 4 * (d.length + 1)).cast("i").tolist()
    data = bytes(_buffer(_pointer(d.buffers, 2), offsets[-1]))
    return [data[a:b].decode() for a, b in zip(offsets, offsets[1:])]


def _pointer(buffers: Any, i: int) -> Optional[int]:
    return ctypes.cast(buffers, POINTER(c_void_p))[i]


def _nulls(array: Any) -> Optional[bytes]:
    """The bits of the values present, None if all are."""
    return bytes(_buffer(_pointer(array.buffers, 0), (array.length + 7) // 8)) if array.null_count else None


_BITS = [tuple(bool(byte >> bit & 1) for bit in range(8)) for byte in range(256)]


def _python_values(array: Any, code: bytes) -> List[Any]:
    """A column as Python values, None where there is none."""
    n, (letter, width) = array.length, _FORMATS[code]
    if array.null_count == n:
        return [None] * n
    values = _buffer(_pointer(array.buffers, 1), n * width).cast(letter).tolist()
    if array.dictionary:
        values = list(map(_words(array).__getitem__, values))
    bits = _nulls(array)
    if bits:
        present = [bit for byte in bits for bit in _BITS[byte]]
        values = [value if there else None for value, there in zip(values, present)]
    return values


class Events:
    """The events of a recording: iterable, and readable by whatever takes `__arrow_c_stream__`.

    `kinds` are names ("lock-block"), times are nanoseconds since 1970, `columns` are those to return (not for
    `__arrow_c_stream__`, whose readers choose themselves). Each use reads the recording anew.
    """

    def __init__(self, directory: Any, kinds: Optional[Iterable[str]] = None, start_ns: int = 0, stop_ns: int = 0,
                 pid: int = 0, tid: int = 0, columns: Optional[Sequence[str]] = None, rows: int = 0) -> None:
        self._directory = path(directory)
        self._columns = columns
        self._filter = sized(c.UpmuTraceFilterOpts, from_ns=start_ns, to_ns=stop_ns, pid=pid, tid=tid)
        if kinds is not None:
            numbers = [_kind_number(kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
            self._kinds = (c_int * max(len(numbers), 1))(*numbers)
            self._filter.kinds, self._filter.n_kinds = self._kinds, len(numbers)
        self._rows = rows
        #: Messages about parts of the recording that could not be read, of the last use.
        self.damages: List[str] = []

    def _open(self) -> "tuple[Any, int]":
        """A stream, which the caller releases, and the number of events of the recording as far as it is known."""
        trace = c_void_p()
        stream = c.ArrowArrayStream()
        self.damages = []
        _readers[id(self)] = self
        opts = sized(c.UpmuArrowOpts, rows=self._rows, damage=ctypes.cast(_on_damage, c_void_p), arg=id(self))
        check(analysis.upmu_trace_open(byref(trace), self._directory))
        try:
            check(analysis.upmu_trace_filter(trace, byref(self._filter)))
            events = sum(p.events for p in table(analysis.upmu_trace_process_at, c.UpmuTraceProcess, trace))
            check(analysis.upmu_trace_arrow(trace, byref(opts), byref(stream)))
        except Error:
            analysis.upmu_trace_close(trace)
            raise
        return stream, events

    def _batches(self) -> Iterator[Any]:
        """The columns (name, format, array) of each batch, the batch that holds them, and the number of events of the recording."""
        stream, events = self._open()
        try:
            schema = c.ArrowSchema()
            _checked(stream, _GET_SCHEMA(stream.get_schema)(byref(stream), byref(schema)))
            children = ctypes.cast(schema.children, POINTER(POINTER(c.ArrowSchema)))
            found = {text(children[i].contents.name): (i, children[i].contents.format) for i in range(schema.n_children)}
            _release(schema)
            wanted = [(name, *_column(found, name)) for name in (found if self._columns is None else self._columns)]
            get_next = _GET_NEXT(stream.get_next)
            while True:
                array = c.ArrowArray()
                _checked(stream, get_next(byref(stream), byref(array)))
                if not array.release:
                    return
                columns = ctypes.cast(array.children, POINTER(POINTER(c.ArrowArray)))
                yield [(name, code, columns[i].contents) for name, i, code in wanted], _Batch(array), events
        finally:
            _release(stream)

    def __iter__(self) -> Iterator[Any]:
        """The events as named tuples; None where an event has no such field."""
        row = None
        for columns, batch, _ in self._batches():
            if row is None:
                row = namedtuple("Event", [_identifier(name) for name, _, _ in columns], rename=True)
            yield from map(row._make, zip(*[_python_values(array, code) for _, code, array in columns]))
            del batch

    def _whole(self, numpy: Any) -> "Iterator[Any]":
        """(name, values, missing or None, words or None) of each column; values with words are indices, -1 for none."""
        found: "List[_Whole]" = []
        n = 0
        for columns, batch, events in self._batches():
            found = found or [_Whole(numpy, name, code, events) for name, code, _ in columns]
            for column, (_, _, array) in zip(found, columns):
                column.add(n, array)
            n += batch.array.length
            del columns, batch  # the memory is used for the next one
        return (column.result(n) for column in found)

    def to_numpy(self) -> "dict[str, Any]":
        """Columns as numpy arrays. Numbers that may be missing are masked arrays; texts are arrays of objects, with None."""
        import numpy
        found = {}
        for name, values, missing, words in self._whole(numpy):
            if words is not None:
                values = numpy.array(words + [None], dtype=object)[values] if words else numpy.empty(len(values), object)
            found[name] = values if missing is None or words is not None else numpy.ma.MaskedArray(values, missing)
        return found

    def to_pandas(self) -> Any:
        """A pandas DataFrame: texts are categories, numbers that may be missing have nullable types."""
        import numpy
        import pandas
        found = {}
        for name, values, missing, words in self._whole(numpy):
            if words is not None:
                found[name] = pandas.Categorical.from_codes(values, categories=words)
            else:
                found[name] = values if missing is None else pandas.arrays.IntegerArray(values, missing)
        return pandas.DataFrame(found, copy=False)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The events as a PyCapsule of the Arrow C stream interface, for pyarrow, Polars, DuckDB, pandas."""
        stream, _ = self._open()
        address = ctypes.addressof(stream)
        _streams[address] = stream
        return _new_capsule(address, _NAME, _destroy_capsule)


# Readers of streams that may outlive them: messages about damage reach those that still exist.
_readers: "weakref.WeakValueDictionary[int, Events]" = weakref.WeakValueDictionary()


@_DAMAGE
def _on_damage(reader: int, message: bytes) -> None:
    events = _readers.get(reader)
    if events is not None:
        events.damages.append(text(message))


def _column(found: Any, name: str) -> Any:
    if name not in found:
        raise Error(f"no column is called {name!r}; there are {', '.join(found)}", c.UPMU_E_NAME)
    return found[name]


def _kind_number(kind: "Union[str, int]") -> int:
    if isinstance(kind, int):
        return kind
    known = {text(analysis.upmu_trace_kind_name(number)): number for number in range(1, 128)}
    known.pop("?")
    if kind not in known:
        raise Error(f"no kind of events is called {kind!r}; there are {', '.join(known)}", c.UPMU_E_NAME)
    return known[kind]


def _checked(stream: Any, code: int) -> None:
    if code:
        raise Error(text(_GET_ERROR(stream.get_last_error)(byref(stream))) or "the recording cannot be read", c.UPMU_E_IO)


def _identifier(name: str) -> str:
    return "".join(ch if ch.isalnum() else "_" for ch in name)


def _memory(numpy: Any, rows: int, letter: str, dense: bool) -> Any:
    """An array of zeros whose pages exist once they are touched, large ones if all will be.

    Not from malloc, which writes the zeros itself into memory that was freed before, and gets small pages: their faults take
    longer than reading the recording.
    """
    size = rows * numpy.dtype(letter).itemsize
    if size < _LARGE_PAGE // 4:
        return numpy.zeros(rows, letter)
    memory = mmap.mmap(-1, -size // _LARGE_PAGE * -_LARGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if dense and hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            memory.madvise(mmap.MADV_HUGEPAGE)
        except OSError:  # a kernel without
            pass
    return numpy.frombuffer(memory, letter, rows)


class _Whole:
    """A column of all batches in one array, which exists once there is a value."""

    def __init__(self, numpy: Any, name: str, code: bytes, rows: int) -> None:
        self._numpy, self._name, self._rows = numpy, name, rows
        self._letter, self._width = _FORMATS[code]
        self._values: Any = None
        self._missing: Any = None
        self._lazy = False  # `_values` was zeroed, so that missing numbers need not be written
        self._index: "Optional[dict[str, int]]" = None

    def _grow(self, rows: int) -> None:
        """The number of events of a recording that is damaged or still written is too small."""
        more = max(rows, 2 * self._rows) - self._rows
        self._rows += more
        if self._values is not None:
            self._values = self._numpy.concatenate([self._values, self._numpy.zeros(more, self._letter)])
        if self._missing is not None:
            self._missing = self._numpy.concatenate([self._missing, self._numpy.zeros(more, bool)])

    def _allocate(self, mostly_missing: bool) -> Any:
        self._lazy = mostly_missing and self._index is None
        return _memory(self._numpy, self._rows, self._letter, not self._lazy)

    def add(self, at: int, array: Any) -> None:
        """The rows of a batch, the first of them as row `at`."""
        n = array.length
        if at + n > self._rows:
            self._grow(at + n)
        missing = self._note_missing(at, array)
        if array.dictionary and self._index is None:
            self._index = {}
        nothing = 0 if self._index is None else -1
        if self._values is None and array.null_count == n:
            return
        if self._values is None:
            self._values = self._allocate(array.null_count > n / 2)
            if not self._lazy:
                self._values[:at] = nothing
        values = self._values[at:at + n]
        if array.null_count == n:
            if not self._lazy:
                values.fill(nothing)
            return
        self._copy(values, array)
        if missing is not None and self._index is not None:
            self._numpy.copyto(values, nothing, where=missing)

    def _copy(self, values: Any, array: Any) -> None:
        numpy, index = self._numpy, self._index
        raw = numpy.frombuffer(_buffer(_pointer(array.buffers, 1), array.length * self._width), dtype=self._letter)
        if index is None:
            values[:] = raw
            return
        # Each batch has a dictionary of its own.
        numbers = [index.setdefault(word, len(index)) for word in _words(array)] + [0]
        numpy.array(numbers, self._letter).take(raw, out=values, mode="clip")

    def _note_missing(self, at: int, array: Any) -> Any:
        """Which rows of the batch have no value; None if all have one."""
        numpy, n = self._numpy, array.length
        if not array.null_count:
            return None
        if self._missing is None:
            self._missing = _memory(numpy, self._rows, "?", True)
        part = self._missing[at:at + n]
        if array.null_count == n:
            part.fill(True)
        else:
            bits = numpy.frombuffer(_nulls(array), "u1")
            part[:] = numpy.unpackbits(~bits, count=n, bitorder="little").view(bool)
        return part

    def result(self, n: int) -> Any:
        """(name, values, missing or None, words or None) of the `n` rows."""
        words = None if self._index is None else list(self._index)
        missing = None if self._missing is None else self._missing[:n]
        if self._values is not None:
            return self._name, self._values[:n], missing, words
        if words is None:
            return self._name, self._numpy.zeros(n, self._letter), missing, words
        return self._name, self._numpy.broadcast_to(self._numpy.array(-1, "b"), n), missing, words


# Capsules are made by CPython's own functions. The destructor releases the stream unless its reader has taken it over.
_streams: "dict[int, Any]" = {}
_NAME = b"arrow_array_stream"  # the capsule keeps its address
# Prototypes of this module: those of ctypes.pythonapi are shared with other packages.
_capsule_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


@ctypes.PYFUNCTYPE(None, c_void_p)
def _destroy_capsule(capsule: int) -> None:
    stream = _streams.pop(_capsule_pointer(capsule, _NAME), None)
    if stream is not None:
        _release(stream)


_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, type(_destroy_capsule))(
    ("PyCapsule_New", ctypes.pythonapi))
