# shellcheck shell=bash
# What the tests of the examples share. Sourced; the caller has set -euo pipefail.

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

# silent PROGRAM ARG...: without a UPMU_ variable it ends well and writes nothing to standard error, no file anywhere near
silent()
{
    (cd "$scratch" && "$@") >"$scratch/stdout" 2>"$scratch/stderr" || fail "$* ended with status $?: $(cat "$scratch/stderr")"
    [ ! -s "$scratch/stderr" ] || fail "$* is not silent: $(cat "$scratch/stderr")"
}

# json_report FILE PYTHON: the report is JSON, and the expression over it (named r) holds
json_report()
{
    python3 -c "
import json, sys
r = json.load(open(sys.argv[1]))
regions = {x['name']: x for x in r['regions']}
assert $2, json.dumps(r, indent=1)
" "$1" || fail "in the report: $2"
}
