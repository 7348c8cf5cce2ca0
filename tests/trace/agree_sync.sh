#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# babeltrace2 and our reader agree on every field of every synchronization event, on stacks and on modules.
#     agree_sync.sh SYNC_SCRIBE
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/trace/common.sh
. "$here/common.sh"
scribe=$1

need_babeltrace
python3=/usr/bin/python3 # the one that Debian's python3-bt2 is for
"$python3" -c 'import bt2' 2>/dev/null || skip "python3-bt2 is not installed"

"$scribe" write "$work/recording"
"$python3" "$here/agree_sync.py" "$work/recording" "$scribe"
babeltrace2 "$work/recording" >"$work/text"
[ "$(grep -c ' stack: ' "$work/text")" = 160 ] || fail "babeltrace2's text does not show every stack"
