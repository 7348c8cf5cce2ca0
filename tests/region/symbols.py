# SPDX-License-Identifier: MIT
"""symbols.py LIBUPMU: regions from another language, which has only the symbols."""
import ctypes
import sys

upmu = ctypes.CDLL(sys.argv[1])
assert upmu.upmu_region_begin(b"python") == 0
assert upmu.upmu_mark(b"mark") == 0
assert upmu.upmu_region_end(b"python") == 0
