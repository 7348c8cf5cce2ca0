# SPDX-License-Identifier: MIT
# The HTML report in Chromium: it shows what was recorded, can be used by hand and by keyboard, asks no network, and names
# cannot break it. First argument: which part (page, work, names, samples, functions, folds, deadlock, contrast, chinese).
# shellcheck source=lib.sh
. "$HERE/lib.sh"
browser || skip "no Chromium is installed"
# waits NAME: whether a thread waited for a mutex
waits() {
    "$UPMU" report --json "$work/$1" |
        python3 -c 'import json, sys; sys.exit(not any(o["type"] == "mutex" and o["waits"]["count"] for o in json.load(sys.stdin)["objects"]))'
}

# instrumented: $work/calls, a program of recorded functions
instrumented() {
    (cd "$work" && gcc -O2 -g -finstrument-functions "$HERE/../func/subject.c" -o calls -pthread -ldl)
}
# functions NAME [--from S --to S]: what the page of $work/NAME is compared with
functions() {
    "$UPMU" report --functions --json "${@:2}" "$work/${1%_stretch}" >"$work/$1.json" || fail "upmu report --functions: $?"
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
        if instrumented; then UPMU_FUNC_NODES=64 record functions --functions -- "$work/calls" recursion; fi
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
    functions)
        instrumented || skip "gcc is not installed"
        record tree --functions -- "$work/calls" recursion
        record events --function-events -- "$work/calls" recursion
        # 90,000 call paths: each of 300 functions calls each of 300 others.
        {
            for i in $(seq 300); do echo "__attribute__((noinline)) static void leaf_$i(void) { for (int i = 0; i < 200; i++) __asm__ volatile(\"\"); }"; done
            echo "static void (*const leaves[])(void) = {$(printf 'leaf_%d, ' $(seq 300))};"
            for i in $(seq 300); do
                echo "__attribute__((noinline)) static void outer_$i(void) { for (int i = 0; i < 300; i++) leaves[i](); }"
            done
            echo "int main(void) { $(printf 'outer_%d(); ' $(seq 300)) return 0; }"
        } >"$work/wide.c"
        (cd "$work" && gcc -O1 -finstrument-functions wide.c -o paths)
        record wide --functions -- "$work/paths"
        export UPMU_FUNC_NODES=64
        record lost --functions -- "$work/paths"
        unset UPMU_FUNC_NODES
        record plain -- true
        record never --paused --functions -- "$work/calls" recursion
        for name in tree events wide; do functions "$name"; done
        for to in 0.004 0.008 0.016 0.032 0.064 0.128 0.256 0.512 1; do # the first calls are after the recorder's start
            functions events_stretch --from 0 --to "$to"
            ! grep -q '"calls": [1-9]' "$work/events_stretch.json" || break
        done
        for name in tree events; do
            expect 0 "$UPMU" report --html "$work/${name}_stretch.html" --from 0 --to "$to" "$work/$name"
        done
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
[ ! -e "$work/functions.html" ] || pages+=(functions)
first=()
[ "$part" != folds ] || first=("$UPMU")
python3 "$HERE/$part.py" "${first[@]}" "$work" "${pages[@]}" || fail "the page is wrong"
finish
