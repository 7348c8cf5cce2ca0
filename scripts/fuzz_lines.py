#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One row of the coverage of a fuzz target: fuzz_lines.py TARGET REGEX INPUTS LEAST <llvm-cov's summary in JSON

REGEX selects the files; the row has their executed lines, and the three files that have most lines left. Status 1: fewer than LEAST %.
"""
import json
import re
import sys


def main():
    target, regex, inputs, least = sys.argv[1], re.compile("(?:^|/)(?:" + sys.argv[2] + ")$"), sys.argv[3], float(sys.argv[4])
    files = [(f["filename"], f["summary"]["lines"]) for f in json.load(sys.stdin)["data"][0]["files"] if regex.search(f["filename"])]
    lines = sum(n["count"] for _, n in files)
    run = sum(n["covered"] for _, n in files)
    if not lines:
        sys.exit(f"fuzz_lines: no file of {target} in the program")
    files.sort(key=lambda f: f[1]["covered"] - f[1]["count"])
    least_run = [f"{name.rsplit('/', 1)[1]} {n['covered']}/{n['count']}" for name, n in files[:3] if n["covered"] < n["count"]]
    percent = 100 * run / lines
    print(f"{target:14} {inputs:>8} {lines:8} {percent:6.1f} %  {', '.join(least_run)}")
    sys.exit(percent < least)


if __name__ == "__main__":
    main()
