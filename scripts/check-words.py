#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks comments, messages, documentation and identifiers against scripts/words.txt (docs/style.md has the rules).

    scripts/check-words.py [--count] [PATH...]    files or folders, by default the whole tree

Prints one line per finding as FILE:LINE: 'what was found': what to write instead. --count prints the number of findings
per file. Exit status: 0 nothing found, 1 findings, 2 wrong use.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RULES = os.path.join(ROOT, "scripts", "words.txt")
# The rules themselves, texts by others, data tables and what is generated.
EXEMPT = ("scripts/words.txt", "scripts/check-words.py", "tests/scripts/check_words.sh", "docs/style.md", "LICENSE",
          "tests/golden/", "tests/machines/", "tests/trace/seeds/", "tests/fuzz/seeds/", "tests/abi/libupmu")
# In these, phrases are looked for in comments and strings; in C_NAMES, names in identifiers. In other files, phrases everywhere.
C_NAMES = (".c", ".h", ".cpp", ".hpp", ".in")
C_FILES = C_NAMES + (".js", ".rs", ".java", ".css", ".proto")
TOKEN = re.compile(r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*")|(?P<char>'(?:\\.|[^'\\\n])+')"""
                   r"""|(?P<include>^[ \t]*\#[ \t]*include[^\n]*)|(?P<name>[A-Za-z_]\w*)""", re.S | re.M)


def read_rules():
    """Returns the rules as (phrases, names), each a list of (compiled pattern, advice)."""
    rules = {"phrase": [], "name": []}
    with open(RULES, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            try:
                left, advice = line.split(" -> ", 1)
                kind, pattern = left.split(None, 1)
                flags = re.IGNORECASE if kind == "phrase" else 0
                edges = r"\b(?:%s)\b" if kind == "phrase" else r"(?<![a-z0-9])(?:%s)(?![a-z0-9])"
                pattern = pattern.strip().replace(" ", r"\s+")
                rules[kind].append((re.compile(edges % pattern, flags), advice))
            except (ValueError, KeyError, re.error) as error:
                sys.exit("%s:%d: not a rule: %s" % (RULES, number, error))
    return rules["phrase"], rules["name"]


def parts(path, text):
    """Yields (kind, offset, text) for what the rules apply to: "phrase" for prose, "name" for identifiers."""
    if path.endswith(C_FILES):
        for match in TOKEN.finditer(text):
            kind = match.lastgroup
            if kind in ("comment", "string"):
                yield "phrase", match.start(), match.group()
            elif kind == "name" and path.endswith(C_NAMES):
                yield "name", match.start(), match.group()
    else:
        yield "phrase", 0, text


def findings(path, text, phrases, names):
    for kind, start, part in parts(path, text):
        # A phrase may be broken over lines of a comment.
        flat = re.sub(r"\n[ \t]*(?:\*|//|#)?", lambda m: " " * len(m.group()), part) if kind == "phrase" else part
        for pattern, advice in phrases if kind == "phrase" else names:
            for match in pattern.finditer(flat):
                yield text.count("\n", 0, start + match.start()) + 1, " ".join(match.group().split()), advice


def tree(paths):
    """Yields (path, text) of each text file below `paths`."""
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--"] + paths, cwd=ROOT,
                         check=True, capture_output=True, text=True).stdout
    for path in sorted(set(out.split("\n"))):
        if not path or path.startswith(EXEMPT) or not os.path.isfile(os.path.join(ROOT, path)):
            continue
        with open(os.path.join(ROOT, path), "rb") as file:
            content = file.read()
        if b"\0" not in content:
            yield path, content.decode("utf-8")


def main(arguments):
    count = "--count" in arguments
    paths = [os.path.relpath(os.path.abspath(a), ROOT) for a in arguments if a != "--count"]
    if any(not os.path.exists(os.path.join(ROOT, p)) for p in paths):
        sys.stderr.write("check-words: no such file or folder among: %s\n" % " ".join(paths))
        return 2
    phrases, names = read_rules()
    total = 0
    for path, text in tree(paths):
        found = list(findings(path, text, phrases, names))
        total += len(found)
        if count and found:
            print("%6d %s" % (len(found), path))
        elif not count:
            for line, what, advice in found:
                print("%s:%d: '%s': %s" % (path, line, what, advice))
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
