#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Wrappers that do not record are jumps at each level of optimization: OMPT takes the return address for the call site.
#     jumps.sh BUILD SOURCE
set -euo pipefail
build=$1 source=$2
skip()
{
    echo "skipped, because $*"
    exit 77
}
[ "$(uname -m)" = x86_64 ] || skip "the instructions are those of x86_64"
command -v objdump >/dev/null || skip "objdump is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for level in 0 1 2 3; do
    for file in gomp_wait gomp_parallel; do
        python3 - "$build/compile_commands.json" "$source/lib/openmp/$file.c" "$level" "$work/$file.o" <<'PYTHON' >"$work/command"
import json, re, shlex, sys
database, file, level, output = sys.argv[1:]
one = next(c for c in json.load(open(database)) if c["file"] == file)
words = [w for w in shlex.split(one["command"]) if not re.fullmatch(r"-O.*|-flto.*|-Werror.*|ccache|.*/ccache", w)]
words[words.index("-o") + 1] = output
print("cd", shlex.quote(one["directory"]), "&&", shlex.join(words[:1] + [f"-O{level}"] + words[1:]))
PYTHON
        sh "$work/command" 2>"$work/err" || { cat "$work/err"; exit 1; }
    done
    for one in gomp_wait:GOMP_barrier gomp_parallel:GOMP_parallel; do
        objdump -d --no-show-raw-insn "$work/${one%:*}.o" | sed -n "/<${one#*:}>:/,/^\$/p" >"$work/code"
        grep -qE '\sjmp +\*%r' "$work/code" || { echo "FAILED: -O$level: ${one#*:} does not jump:"; cat "$work/code"; exit 1; }
    done
done
