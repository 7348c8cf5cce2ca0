# SPDX-License-Identifier: MIT
# The HTML report in Chromium: it shows what was recorded, can be used by hand and by keyboard, asks no network, and names
# cannot break it. First argument: which part (page, work, names, samples, folds, deadlock, contrast, chinese).
# shellcheck source=lib.sh
. "$HERE/lib.sh"
browser || skip "no Chromium is installed"
# waits NAME: whether a thread waited for a mutex
waits() {
    "$UPMU" report --json "$work/$1" |
        python3 -c 'import json, sys; sys.exit(not any(o["type"] == "mutex" and o["waits"]["count"] for o in json.load(sys.stdin)["objects"]))'
}

part=${1:-page}
case $part in
    page) record scene -e task-clock,page-faults,context-switches -- "$SCENE" ;;
    work)
        for _ in 1 2 3 4 5; do # on a busy machine the threads may run one after the other
            rm -rf "${work:?}/crowd"
            record crowd -m all -- "$CROWD" 6 3000
            if waits crowd; then break; fi
        done
        record later -m all -- "$CROWD" 4 5000
        expect 0 "$UPMU" report --html "$work/both.html" --diff "$work/crowd" "$work/later"
        expect 0 "$UPMU" report --json --diff "$work/crowd" "$work/later"
        cp "$work/out" "$work/both.json"
        ;;
    names) record nasty -m all -e page-faults -- "$NASTY" ;;
    contrast)
        record crowd -m all -- "$CROWD" 6 3000
        expect 0 "$UPMU" report --html "$work/both.html" --diff "$work/crowd" "$work/crowd"
        ;;
    chinese)
        record scene -e task-clock,page-faults -- "$SCENE"
        record crowd -m all -- "$CROWD" 6 3000
        expect 0 "$UPMU" report --html "$work/both.html" --diff "$work/scene" "$work/crowd"
        stuck cross_normal
        ;;
    folds)
        record pool -- "$POOL"
        record loads -m all -- "$AGAIN" "$FIRST" "$SECOND"
        record counted -- "$POOL" "'$UPMU' ctl '$work/counted' mode counts" "'$UPMU' ctl '$work/counted' mode holders"
        record many -- bash -c 'for i in 1 2 3 4; do sleep 0.1 & done; wait'
        ;;
    samples)
        (cd "$work" && gcc -O1 -g -fno-omit-frame-pointer "$HERE/../sampling/subject.c" -o subject -pthread) || skip "gcc is not installed"
        record locks -F 999 -- "$work/subject" locks 300
        [ -s "$work/locks/samples" ] || skip "$(cat "$work/locks.record")"
        ;;
    deadlock)
        stuck cross_normal
        stuck owner_returned
        ;;
esac
[ "$part" != page ] || "$UPMU" report --json "$work/scene" >"$work/scene.json" || fail "upmu report --json: $?"
pages=()
[ "$part" != contrast ] || pages=(crowd both)
[ "$part" != chinese ] || pages=(scene crowd both cross_normal)
first=()
[ "$part" != folds ] || first=("$UPMU")
python3 "$HERE/$part.py" "${first[@]}" "$work" "${pages[@]}" || fail "the page is wrong"
finish
