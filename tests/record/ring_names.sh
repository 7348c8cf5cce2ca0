# SPDX-License-Identifier: MIT
# Names of threads outlive their events in a ring.
. "$(dirname "$0")/lib.sh"

expect 0 "$UPMU" record --mode all --ring 64K -o trace -- "$NAMED"
expect 0 "$UPMU" dump trace
grep 'thread-start' out >starts || :
! grep -q -v main starts || fail "the beginning is not overwritten: this test tests nothing"
expect 0 "$UPMU" report --json trace
python3 - out <<'PYTHON' || fail "names of threads: $(cat err)"
import json, sys
names = sorted(t["name"] for t in json.load(open(sys.argv[1]))["threads"])
assert names == ["by-another", "by-itself", "main", "use_mutex"], names
PYTHON
expect 0 "$UPMU" report trace
has out " by-another "
expect 0 "$UPMU" export -f chrome -o chrome trace
grep -q '"by-itself [0-9]' chrome || fail "no name in the timeline"
finish
