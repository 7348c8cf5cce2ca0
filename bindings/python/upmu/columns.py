# SPDX-License-Identifier: MIT
"""Events of a recording as columns: for numpy, pandas, and every reader of the Arrow C stream interface."""
import ctypes
import weakref
from collections import namedtuple
from ctypes import POINTER, byref, c_char_p, c_int, c_void_p
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Union

from . import _declarations as c
from ._native import Error, analysis, check, path, sized, text

_GET_SCHEMA = ctypes.CFUNCTYPE(c_int, POINTER(c.ArrowArrayStream), POINTER(c.ArrowSchema))
_GET_NEXT = ctypes.CFUNCTYPE(c_int, POINTER(c.ArrowArrayStream), POINTER(c.ArrowArray))
_GET_ERROR = ctypes.CFUNCTYPE(c_char_p, POINTER(c.ArrowArrayStream))
_RELEASE = ctypes.CFUNCTYPE(None, c_void_p)
_DAMAGE = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)

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

    def _open(self) -> Any:
        """A stream, which the caller releases."""
        trace = c_void_p()
        stream = c.ArrowArrayStream()
        self.damages = []
        _readers[id(self)] = self
        opts = sized(c.UpmuArrowOpts, rows=self._rows, damage=ctypes.cast(_on_damage, c_void_p), arg=id(self))
        check(analysis.upmu_trace_open(byref(trace), self._directory))
        try:
            check(analysis.upmu_trace_filter(trace, byref(self._filter)))
            check(analysis.upmu_trace_arrow(trace, byref(opts), byref(stream)))
        except Error:
            analysis.upmu_trace_close(trace)
            raise
        return stream

    def _batches(self) -> Iterator[Any]:
        """(name, format, array) of each column, and the batch that holds them, for each batch."""
        stream = self._open()
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
                yield [(name, code, columns[i].contents) for name, i, code in wanted], _Batch(array)
        finally:
            _release(stream)

    def __iter__(self) -> Iterator[Any]:
        """The events as named tuples; None where an event has no such field."""
        row = None
        for columns, batch in self._batches():
            if row is None:
                row = namedtuple("Event", [_identifier(name) for name, _, _ in columns], rename=True)
            yield from map(row._make, zip(*[_python_values(array, code) for _, code, array in columns]))
            del batch

    def _whole(self, numpy: Any) -> "Iterator[Any]":
        """(name, values, missing or None, words or None) of each column; values with words are indices, -1 for none."""
        batches = list(self._batches())
        for parts in zip(*(columns for columns, _ in batches)):
            yield (parts[0][0], *_whole_column(numpy, parts[0][1], [array for _, _, array in parts]))

    def to_numpy(self) -> "dict[str, Any]":
        """Columns as numpy arrays. Numbers that may be missing are masked arrays; texts are arrays of objects, with None."""
        import numpy
        found = {}
        for name, values, missing, words in self._whole(numpy):
            if words is not None:
                values = numpy.array(words + [None], dtype=object)[values]
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
        stream = self._open()
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


def _whole_column(numpy: Any, code: bytes, arrays: List[Any]) -> Any:
    """The parts of a column as (values, missing, words)."""
    letter, width = _FORMATS[code]
    n, nulls = sum(a.length for a in arrays), sum(a.null_count for a in arrays)
    raw = [numpy.frombuffer(_buffer(_pointer(a.buffers, 1), a.length * width), dtype=letter) for a in arrays]
    missing = _missing(numpy, arrays, n, nulls)
    if not arrays[0].dictionary:
        return (numpy.concatenate(raw) if nulls < n else numpy.zeros(n, letter)), missing, None
    index: "dict[str, int]" = {}
    if nulls == n:
        return numpy.full(n, -1, "b"), missing, []
    # Each batch has a dictionary of its own.
    maps = [[index.setdefault(word, len(index)) for word in _words(a)] + [0] for a in arrays]
    kind = "b" if len(index) < 128 else "i"
    values = numpy.concatenate([numpy.array(m, kind)[part] for m, part in zip(maps, raw)])
    if missing is not None:
        values[missing] = -1
    return values, missing, list(index)


def _missing(numpy: Any, arrays: List[Any], n: int, nulls: int) -> Any:
    """Whether each value is missing; None if none is."""
    if nulls in (0, n):
        return None if nulls == 0 else numpy.ones(n, bool)
    parts = []
    for a in arrays:
        bits = _nulls(a)
        parts.append(numpy.zeros(a.length, bool) if bits is None else
                     numpy.unpackbits(numpy.frombuffer(bits, "u1"), bitorder="little")[:a.length] == 0)
    return numpy.concatenate(parts)


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
