# SPDX-License-Identifier: MIT
"""Events of a recording in numpy and pandas: the same values as row by row."""
import os
import sys

try:
    import numpy
    import pandas
except ImportError as problem:
    print(f"skipped, because {problem} (Debian: python3-numpy python3-pandas)")
    sys.exit(77)
import upmu

recording = upmu.Recording(sys.argv[1])
for rows in (0, 100, 16):
    if rows == 16:  # as in a recording that is still written, whose number of events is not known
        upmu.columns.table = lambda *arguments: []
    if rows == 100:  # every column in a mapping of its own, as those of large recordings are
        upmu.columns._LARGE_PAGE = 64
    events = recording.events(rows=rows)
    expected = list(events)
    arrays, frame = events.to_numpy(), events.to_pandas()
    assert len(expected) == len(frame) == len(arrays["time_ns"]) > 40
    assert arrays["time_ns"].dtype == numpy.int64 and arrays["object"].dtype == numpy.uint64
    for name, array in arrays.items():
        field = name.replace("-", "_").replace(" ", "_")
        values = [getattr(event, field) for event in expected]
        assert list(array) == values or [None if v is numpy.ma.masked else v for v in array] == values, name
        in_frame = [None if pandas.isna(v) else v for v in frame[name]]
        assert in_frame == values, name
    some = recording.events(["lock-block"], columns=["tid", "peer"], rows=rows).to_numpy()
    assert list(some) == ["tid", "peer"] and len(some["tid"]) == sum(e.kind == "lock-block" for e in expected)
assert recording.events(pid=1).to_numpy() == {}
locks = pandas.DataFrame(recording.locks)
assert "the till" in list(locks.name) and locks.acquisitions.dtype == numpy.int64
print(f"{len(expected)} events in {len(arrays)} columns, numpy {numpy.__version__}, pandas {pandas.__version__}")
