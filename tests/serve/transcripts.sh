# SPDX-License-Identifier: MIT
# Golden transcripts of the protocol, and its schema.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
# Debian's modules are Debian's python3's; another one may precede it in PATH.
python=python3
"$python" -c 'import jsonschema' 2>/dev/null || python=/usr/bin/python3
"$python" -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
expect 0 "$UPMU" record -o "$work/recording" -- "$SCENE" busy 200
"$python" "$HERE/transcripts.py" "$UPMU" "$SCHEMA" "$work/recording" "$work" "$HERE"/transcripts/*.txt || fail "a transcript differs"
finish
