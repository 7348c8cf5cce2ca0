#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Characters that take no column or two, as ranges.h: by category and East_Asian_Width (UAX 11) of the Unicode database of Python."""
import unicodedata

IDEOGRAPHS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FFFD), (0x30000, 0x3FFFD))  # wide, assigned or not
JAMO = ((0x1160, 0x11FF), (0xD7B0, 0xD7FF))  # vowels and finals, drawn into the syllable before them
SOFT_HYPHEN = 0xAD


def width(code):
    """0, 1 or 2."""
    c = chr(code)
    inside = lambda ranges: any(a <= code <= b for a, b in ranges)
    if inside(JAMO) or (unicodedata.category(c) in ("Mn", "Me", "Cf") and code != SOFT_HYPHEN):
        return 0
    assigned = unicodedata.category(c) != "Cn"
    return 2 if inside(IDEOGRAPHS) or (assigned and unicodedata.east_asian_width(c) in ("W", "F")) else 1


def ranges(columns):
    """Of the characters of that width, behind ASCII."""
    out = []
    for code in (*range(0x80, 0x40000), *range(0xE0000, 0xE1000)):  # the planes that have characters, without those of private use
        if width(code) != columns:
            continue
        if out and out[-1][1] == code - 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


def table(name, rows):
    """As C, a few a line."""
    print(f"static const struct columns_range {name}[] = {{")
    for i in range(0, len(rows), 5):
        print("    " + " ".join(f"{{0x{a:04x}, 0x{b:04x}}}," for a, b in rows[i:i + 5]))
    print("};")


if __name__ == "__main__":
    print(f"""/* SPDX-License-Identifier: MIT */
/** @file Characters that take no column or two, of Unicode {unicodedata.unidata_version}. Written by ranges.py. */
#ifndef UPMU_TOOL_RANGES_H
#define UPMU_TOOL_RANGES_H

#include <stdint.h>

/** Both ends included. */
struct columns_range {{
    uint32_t first, last;
}};

/* clang-format off */""")
    table("columns_none", ranges(0))
    print()
    table("columns_two", ranges(2))
    print("/* clang-format on */\n\n#endif")
