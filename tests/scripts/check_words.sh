#!/usr/bin/env bash
# scripts/check-words.py finds forbidden phrases in comments, strings and documentation, and names on the rename list.
set -euo pipefail
python3 - "$1" <<'END'
import importlib.util
import sys

spec = importlib.util.spec_from_file_location("check_words", sys.argv[1])
words = importlib.util.module_from_spec(spec)
spec.loader.exec_module(words)
rules = words.read_rules()


def found(path, text):
    return [(line, what) for line, what, _ in words.findings(path, text, *rules)]


def expect(path, text, *wanted):
    got = found(path, text)
    if got != list(wanted):
        sys.exit("FAILED: %r in %s gives %r, not %r" % (text, path, got, list(wanted)))


expect("a.c", "/* A thread waits. */\nint n_waits = 0; /* blocked */\n")
expect("a.c", "int x;\n/* What a report tells. */\n", (2, "tells"))
expect("a.c", "/* It would go\n * on. */\n", (1, "go on"))
expect("a.c", 'puts("nobody knows");\n', (1, "knows"), (1, "nobody"))
expect("a.c", "int told_since; int untold; int upmu_standing;\n", (1, "told"), (1, "standing"))
expect("a.c", '#include "told.h"\n')
expect("a.c", "int order; int use;\n")
expect("a.md", "Its behaviour, as user nobody.\n", (1, "behaviour"))
expect("a.rs", "// Room: tests\nlet told = 1;\n", (1, "Room"))
expect("Makefile", "all: # it says\n", (1, "says"))
expect("a.sh", "# waits for ever\n", (1, "for ever"))
if ".clang-format" not in (path for path, _ in words.tree(["."])):
    sys.exit("FAILED: a text file without an ending is not checked")
print("check-words finds what it should")
END
