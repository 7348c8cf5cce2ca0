#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines of lib/ that were executed in a build with --coverage: coverage.py BUILD LEAST"""
import collections
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HELD = ("core", "region", "trace", "sync_trace", "deadlock", "analysis")  # must have LEAST percent


def lines_of(build, root):
    """{file: {line: count}} over all objects of the build that contain a file of lib/."""
    counts = collections.defaultdict(lambda: collections.defaultdict(int))
    data = sorted(p.resolve() for p in pathlib.Path(build).rglob("*.gcda") if "upmu_module_" in str(p) or "/lib/" in str(p))
    with tempfile.TemporaryDirectory() as scratch:
        for start in range(0, len(data), 100):
            subprocess.run(["gcov", "--json-format", "--preserve-paths", *map(str, data[start:start + 100])], cwd=scratch,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            for name in pathlib.Path(scratch).glob("*.gcov.json.gz"):
                document = json.loads(gzip.open(name).read())
                for f in document["files"]:
                    path = os.path.realpath(os.path.join(document.get("current_working_directory", ""), f["file"]))
                    if not path.startswith(str(root / "lib") + os.sep):
                        continue
                    for line in f["lines"]:
                        counts[path[len(str(root)) + 5:]][line["line_number"]] += line["count"]
                name.unlink()
    return counts


def row(name, lines):
    hit = sum(1 for n in lines if n > 0)
    return f"{name:34} {hit:7} {len(lines):7} {100 * hit / max(1, len(lines)):7.1f} %", 100 * hit / max(1, len(lines))


def main():
    build, least = sys.argv[1], float(sys.argv[2])
    counts = lines_of(build, pathlib.Path.cwd().resolve())
    folders, files = collections.defaultdict(list), []
    for path, lines in counts.items():
        folders[path.split("/")[0]] += lines.values()
        files.append((path, list(lines.values())))
    print(f"{'folder':34} {'run':>7} {'lines':>7}")
    short = []
    for folder in sorted(folders):
        text, percent = row(folder, folders[folder])
        print(text)
        if folder in HELD and percent < least:
            short.append(folder)
    print("\nfiles with most lines that were not run")
    for path, lines in sorted(files, key=lambda f: sum(1 for n in f[1] if n == 0), reverse=True)[:25]:
        print(row(path, lines)[0])
    if not counts:
        sys.exit("coverage: no counts in " + build)
    if short:
        sys.exit(f"coverage: fewer than {least:g} % of the lines in " + ", ".join(short))


if __name__ == "__main__":
    main()
