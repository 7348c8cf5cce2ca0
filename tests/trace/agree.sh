#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# babeltrace2 and our reader agree on every event of two processes and many threads: time, name, thread, values.
#     agree.sh SCRIBE DUMP
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/trace/common.sh
. "$here/common.sh"
scribe=$1 dump=$2

need_babeltrace
python3=/usr/bin/python3 # the one that Debian's python3-bt2 is for
"$python3" -c 'import bt2' 2>/dev/null || skip "python3-bt2 is not installed"

"$scribe" mixed "$work/recording"
[ "$(find "$work/recording" -name metadata | wc -l)" = 2 ] || fail "there are not two processes"
"$python3" "$here/agree.py" "$work/recording" "$dump"
[ "$("$dump" "$work/recording" | grep -c '^P . [0-9]* 1 6000 0 ')" = 2 ] || fail "not every event was recorded"
