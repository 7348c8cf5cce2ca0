#!/usr/bin/env bash
# The HTML report of a job: lanes of ranks, messages as arrows, collective calls as bands, and what is known of a call.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"
views=$1/../views
found=$(python3 -B -c 'import sys; sys.path.insert(0, sys.argv[1]); import browser; print(browser.find() or "")' "$views")
[ -n "$found" ] || { echo "skipped, because no Chromium is installed"; exit 77; }

mpicc.$mpi -g -O1 -w -o subject "$here/programs/subject.c"
mpicc.$mpi -g -O1 -w -o waits "$here/programs/waits.c"
record calls 2 ./subject calls
head -c 8192 /dev/zero >shared
record late 2 ./waits shared late-sender
head -c 8192 /dev/zero >shared
record band 2 ./waits shared wait-for-all
for name in calls late band; do
    "$upmu" report --html $name.html $name >out 2>&1 || fail "the page of $name: $(cat out)"
    "$upmu" report --mpi --json $name >$name.json
done
PYTHONPATH=$views PYTHONDONTWRITEBYTECODE=1 python3 -B "$here/page.py" || fail "the page is wrong"
