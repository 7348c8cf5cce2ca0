# SPDX-License-Identifier: MIT
# What the trace scripts share: a directory that goes away, skipping with a reason, failing with one.
# shellcheck shell=bash
set -euo pipefail

work=$(mktemp -d "${TMPDIR:-/tmp}/upmu-trace-XXXXXX")
trap 'rm -rf "$work"' EXIT

skip()
{
    echo "skipped, because $*"
    exit 77
}

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

need_babeltrace()
{
    command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed"
}

# events DUMP-OUTPUT: number of event lines
events()
{
    grep -c '^E ' "$1" || true
}
