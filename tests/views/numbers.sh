# SPDX-License-Identifier: MIT
# The sums of the page equal those of its tables and of `upmu report`, in all modes of recording.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
for mode in all holders contended; do record "$mode" -m "$mode" -- "$CROWD" 6 12000; done
record counted -m all -e page-faults,task-clock -- "$CROWD" 3 3000
python3 "$HERE/numbers.py" "$work"/{all,holders,contended,counted}.html || fail "the page does not add up"
finish
