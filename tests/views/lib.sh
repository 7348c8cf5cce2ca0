# SPDX-License-Identifier: MIT
# What the tests of the HTML report share. shellcheck shell=bash
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

# record NAME [OPTIONS] -- COMMAND: a recording in $work/NAME and its page in $work/NAME.html
record() {
    local name=$1
    shift
    "$UPMU" record -o "$work/$name" "$@" >/dev/null 2>"$work/$name.record" || fail "recording $name ended with $?"
    expect 0 "$UPMU" report --html "$work/$name.html" "$work/$name"
}

# stuck NAME: a case of the deadlock corpus, killed once the deadlock is reported
stuck() {
    local name=$1 recorder
    "$UPMU" record -o "$work/$name" -- "$CORPUS" "$name" "$work/$name.pid" >/dev/null 2>"$work/$name.err" &
    recorder=$!
    for _ in $(seq 600); do
        if grep -q '^deadlock \[' "$work/$name.err"; then break; fi
        sleep 0.1
    done
    grep -q '^deadlock \[' "$work/$name.err" || fail "$name was not reported as a deadlock: $(cat "$work/$name.err")"
    kill -9 "$(cat "$work/$name.pid")"
    wait "$recorder" || true
    expect 0 "$UPMU" report --html "$work/$name.html" "$work/$name"
}

browser() {
    [ -n "$(python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import browser; print(browser.find() or "")' "$HERE")" ]
}

# axe: the path of axe-core's script, empty where it is not installed
axe() {
    local script=${AXE:-$HERE/../../build/npm/node_modules/axe-core/axe.min.js}
    [ ! -r "$script" ] || echo "$script"
}
