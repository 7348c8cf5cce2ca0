#!/usr/bin/env bash
# An include that lib/modules.txt does not allow does not compile: each module is compiled as in the build, once with a header
# it may include and once with one it may not.
set -euo pipefail

root=$1 build=$2
[ -f "$build/compile_commands.json" ] || { echo "skipped, because this build wrote no compile_commands.json"; exit 77; }

python3 - "$root" "$build" <<'PYTHON'
import json, os, shlex, subprocess, sys

root, build = sys.argv[1:]
rows = {}
for line in open(os.path.join(root, "lib/modules.txt")):
    words = line.split()
    if words and not line.startswith("#") and words[0] not in ("include", "tools", "outside"):
        rows[words[0]] = [w for w in words[1:] if w[0] != "<" and ":" not in w]

def module_of(path):
    folders = [f for f in rows if path.startswith(f + "/")]
    return max(folders, key=len) if folders else None

headers = sorted(os.path.relpath(os.path.join(folder, name), os.path.join(root, "lib"))
                 for folder, _, names in os.walk(os.path.join(root, "lib")) for name in names if name.endswith(".h"))
commands = {}
for c in json.load(open(os.path.join(build, "compile_commands.json"))):
    path = os.path.relpath(c["file"], os.path.join(root, "lib"))
    if path.endswith(".c") and not path.startswith("..") and "upmu_module_" in c["command"]:
        commands.setdefault(module_of(path), c)

def compiles(command, header):
    words = shlex.split(command["command"])
    words = words[1:] if "ccache" in words[0] else words
    at = words.index("-o")
    words = [w for i, w in enumerate(words) if i not in (at, at + 1) and w not in ("-c", "-MD") and w != command["file"]]
    for option in ("-MT", "-MF"):
        if option in words:
            del words[words.index(option):words.index(option) + 2]
    r = subprocess.run(words + ["-E", "-o", os.devnull, "-x", "c", "-"], input='#include "%s"\n' % header, text=True,
                       capture_output=True, cwd=command["directory"])
    return r.returncode == 0

wrong = 0
assert set(commands) == set(rows), "modules without a source in this build: %s" % (set(rows) - set(commands))
for module, words in sorted(rows.items()):
    own = [h for h in headers if module_of(h) == module]
    allowed = [h for h in headers if h in words or any(w.endswith("/") and h.startswith(w) for w in words)]
    others = [h for h in headers if h not in own and h not in allowed and not h.startswith(module + "/")]
    # One header of each other module, since a module is allowed as a whole or header by header.
    forbidden = list({module_of(h): h for h in others}.values())
    for header in own[:1] + allowed[:1]:
        if not compiles(commands[module], header):
            wrong = print('FAILED: %s cannot include "%s"' % (module, header)) or 1
    for header in forbidden:
        if compiles(commands[module], header):
            wrong = print('FAILED: %s can include "%s"' % (module, header)) or 1
    print("%s: %d headers of other modules do not compile" % (module, len(forbidden)))
sys.exit(wrong)
PYTHON
