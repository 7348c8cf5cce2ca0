#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An input of the fuzz target wait_state, from the wait-state file of a recorded process: wait_state_seed.py FILE >SEED"""
import sys

HEADER, NOTES_AT, SLOTS_AT, SLOT = 600, 600, 1 << 20, 1 << 16  # lib/trace/format/wait_state.h
PARTS = ((0, 128), (128, 40), (128 + 8 + 8 * 256, 40), (128 + 8 + 8 * 256 + 8 + 8 * 64, 64))  # as wait_state.c writes them
NOTES, SLOTS = 512, 64

with open(sys.argv[1], "rb") as f:
    data = f.read(SLOTS_AT + SLOTS * SLOT)
slots = min(int.from_bytes(data[20:24], "little"), SLOTS)
out = data[:HEADER] + data[NOTES_AT:NOTES_AT + NOTES]
for i in range(slots):
    for at, size in PARTS:
        start = SLOTS_AT + i * SLOT + at
        out += data[start:start + size].ljust(size, b"\0")
sys.stdout.buffer.write(out)
