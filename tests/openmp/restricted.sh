#!/usr/bin/env bash
# A program that forbids itself to read time stamps runs on as without a recording, and its regions before that are kept.
# shellcheck source=tests/openmp/lib.sh
. "$1/lib.sh"

status=0
./subject restricts 2 5 >bare || status=$?
[ $status -ne 77 ] || { echo "skipped, because PR_SET_TSC is not supported here"; exit 77; }
is "status of the program alone" 0 "$status"
record r ./subject restricts 2 5 || fail "it ended with $?: $(cat r.err)"
cmp bare r.out || fail "another output"
"$upmu" report --openmp --json r >r.json
is "regions before" 1 "$(python3 -c 'import json; print(*(p["regions_run"] for p in json.load(open("r.json"))["processes"]))')"
grep -q 'the program restricted its system calls' < <("$upmu" report r) || fail "no reason in the report"
