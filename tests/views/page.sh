# SPDX-License-Identifier: MIT
# The HTML report in Chromium: it shows what was recorded, can be used by hand and by keyboard, asks no network, and names
# cannot break it. First argument: which part (page, work, names, deadlock).
# shellcheck source=lib.sh
. "$HERE/lib.sh"
browser || skip "no Chromium is installed"
part=${1:-page}
case $part in
    page) record scene -e task-clock,page-faults,context-switches -- "$SCENE" ;;
    work) record crowd -m all -- "$CROWD" 6 3000 ;;
    names) record nasty -m all -e page-faults -- "$NASTY" ;;
    deadlock)
        stuck cross_normal
        stuck owner_returned
        ;;
esac
[ "$part" != page ] || "$UPMU" report --json "$work/scene" >"$work/scene.json" || fail "upmu report --json: $?"
python3 "$HERE/$part.py" "$work" || fail "the page is wrong"
finish
