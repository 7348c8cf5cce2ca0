#!/usr/bin/env python3
"""Compiles each C file of lib/ and tools/ as in a build, with further options and without a result, and prints the warnings once each.

    gcc.py BUILD OPTION...
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

WARNING = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):\d+: warning: (?P<text>.*) \[-W(?P<id>[a-z0-9-]+)\]$")


def commands(build, root):
    """The first compilation of each file."""
    found = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        for entry in json.load(f):
            path = os.path.relpath(entry["file"], root)
            if path.endswith(".c") and path.startswith(("lib/", "tools/")):
                found.setdefault(path, entry)
    return found


def analyze(entry, options):
    words = shlex.split(entry["command"])
    words = [w for w in words if os.path.basename(w) != "ccache" and w != "-Werror"]
    words[words.index("-o") + 1] = os.devnull
    done = subprocess.run(words + options + ["-fdiagnostics-plain-output", "-fdiagnostics-path-format=none"],
                          cwd=entry["directory"], env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{entry['file']}: {done.stderr[-2000:]}")
    return done.stderr.splitlines()


def main():
    build, options, root = sys.argv[1], sys.argv[2:], os.getcwd()
    printed = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        entries = commands(build, root).values()
        for entry, lines in zip(entries, pool.map(lambda e: analyze(e, options), entries)):
            for line in lines:
                m = WARNING.match(line)
                if not m or "analyzer" not in m["id"]:
                    continue
                path = os.path.relpath(os.path.realpath(os.path.join(entry["directory"], m["file"])), root)
                text = f"{path}:{m['line']}: {m['id']}: {m['text']}"
                if text not in printed:
                    printed.add(text)
                    print(text, flush=True)


main()
