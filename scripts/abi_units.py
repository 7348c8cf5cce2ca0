#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make a dump of abidw independent of source files: one unit, types sorted by id, then functions and variables by name.

    scripts/abi_units.py DUMP

abidw writes a unit per source file: what moves to another file would move in the dump, with the types that it is the first to use.
"""
import re
import sys

INDENT = "    <"  # of types, functions and variables


def elements(lines):
    """Their texts, of one line or several."""
    current = []
    for line in lines:
        if line.startswith(("  <abi-instr ", "  </abi-instr>")):
            continue
        current.append(line)
        if line.startswith(INDENT) and (line.startswith(INDENT + "/") or line.endswith("/>")):
            yield "\n".join(current)
            current = []


def order(text):
    head = text.split("\n", 1)[0]
    found = {name: re.search(rf" {name}='([^']*)'", head) for name in ("id", "name")}
    name = {key: match.group(1) if match else "" for key, match in found.items()}
    return head.startswith((INDENT + "function-decl", INDENT + "var-decl")), name["id"], name["name"], text


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("  <abi-instr "))
    end = max(i for i, line in enumerate(lines) if line == "  </abi-instr>")
    unit = re.sub(r" path='[^']*'", "", lines[begin])
    merged = sorted(set(elements(lines[begin:end + 1])), key=order)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join([*lines[:begin], unit, *merged, *lines[end:]]))


main()
