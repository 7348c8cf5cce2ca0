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

# holds FILE PYTHON: the report is JSON, and the expression holds over `r`, the report, and `total`, which has for each
# region the row of all threads
holds()
{
    python3 - "$1" "$2" <<'END' || fail "in the report $1: $2"
import json, sys
r = json.load(open(sys.argv[1]))
total = {row["region"]: row for row in r["regions"] if row["thread"] is None}
sys.exit(0 if eval(sys.argv[2]) else json.dumps(r, indent=1))
END
}
