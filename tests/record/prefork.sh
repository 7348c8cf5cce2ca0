# SPDX-License-Identifier: MIT
# Forked children without a recording are counted, in the summary and in the report; those with one of their own are not.
. "$(dirname "$0")/lib.sh"
expect 0 "$UPMU" record -o z "$PREFORK"
parent=$(cat "$work/out")
has err "records of 3 processes"
has err ", at least 4 forked children not recorded,"
expect 0 "$UPMU" report z
has out "made no call that begins it, or executed a program that cannot be recorded: at least 4"
expect 0 "$UPMU" report --json z
PARENT=$parent json "$work/out" '
import os
assert {p["pid"] == int(os.environ["PARENT"]): p["children_unrecorded"] for p in d["processes"]} == {True: 4, False: None}, d["processes"]
'
# Of one process alone it is not known which others were recorded.
expect 0 "$UPMU" report --json "$(ls -d z/*-"$parent"-*)"
json "$work/out" 'assert d["processes"][0]["children_unrecorded"] is None, d["processes"]'
finish
