# SPDX-License-Identifier: MIT
# Helpers of the scripts in this folder. A script runs to its end and reports every failure, not only the first.
set -u
export LC_ALL=C
unset NO_COLOR TERM
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

skip() {
    echo "skipped, because $*"
    exit 77
}

finish() {
    [ "$failures" -eq 0 ] || { echo "$failures failed" >&2; exit 1; }
    exit 0
}

# run WORDS...: runs the command; leaves $status, and the files $work/out and $work/err.
run() {
    "$@" >"$work/out" 2>"$work/err"
    status=$?
}

show() {
    echo "--- out"; cat "$work/out"; echo "--- err"; cat "$work/err"
}

# expect STATUS WORDS...: runs the command, which must end with STATUS.
expect() {
    local wanted=$1
    shift
    run "$@"
    [ "$status" -eq "$wanted" ] || { fail "'$*' ended with $status, not $wanted"; show >&2; }
}

# has FILE TEXT: the file (out or err) holds the text, taken literally.
has() {
    grep -qF -e "$2" "$work/$1" || { fail "no '$2' in $1"; show >&2; }
}

has_not() {
    ! grep -qF -e "$2" "$work/$1" || { fail "'$2' in $1"; show >&2; }
}

empty() {
    [ ! -s "$work/$1" ] || { fail "$1 is not empty"; show >&2; }
}

# json FILE CODE: the file is one JSON document, and the Python assertions about `d` hold.
json() {
    python3 - "$1" "$2" <<'PYTHON' || fail "JSON of $1"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema_version"] == 1, "schema version"
exec(sys.argv[2])
PYTHON
}

# wait_until SECONDS COMMAND...: tries the command until it succeeds.
wait_until() {
    local tries=$(($1 * 20))
    shift
    while ! "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.05
    done
}
