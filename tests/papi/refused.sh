# SPDX-License-Identifier: MIT
# A PAPI that cannot be used: nothing is counted in its place, and the message has the reason and the remedy. And, where PAPI
# can be used, what upmu doctor prints.
. "$(dirname "$0")/../cli/lib.sh"
export UPMU_BACKEND=papi

# refused WORDS...: list, stat and doctor print these words, and count nothing.
refused() {
    expect 0 "$UPMU" list --json page-faults
    json "$work/out" "
e = d['events'][0]
assert e['trial'] == 'refused' and e['seen'] is None and e['cause'] == 'backend not usable', e
for words in '''$1''', 'perf_event_open': assert words in e['reason'], e['reason']"
    expect 1 "$UPMU" stat -e page-faults -- true
    has err "$1"
    empty out
    expect 1 "$UPMU" doctor --json
    json "$work/out" "
f = next(f for f in d['findings'] if f['topic'] == 'backend')
assert f['state'] == 'missing' and '''$1''' in f['text'], f"
    # A program with regions continues, with times.
    expect 0 env UPMU_EVENTS=page-faults UPMU_REPORT=text UPMU_OUTPUT="$work/report" "$TRACED" "$work/trace" end
    cp "$work/report" "$work/out"
    has out "$1"
    has out "outer"
    rm -rf "$work/trace"
}

# Files that are no libraries, under every name that PAPI goes by: the same as none at all.
mkdir "$work/none"
for version in 7.0 7.1 7.2 7.3 6.0 5.7; do : >"$work/none/libpapi.so.$version"; done
export LD_LIBRARY_PATH=$work/none
refused "apt install libpapi7.0"
export LD_LIBRARY_PATH=$FAKE
FAKE_PAPI=init refused "cannot be started"
FAKE_PAPI=none refused "no component perf_event"
FAKE_PAPI=off refused "the fake is off"

run "$UPMU" doctor --json
json "$work/out" "
f = next(f for f in d['findings'] if f['topic'] == 'backend')
assert f['state'] == 'ok' and 'libpapi.so.7.0' in f['text'], f"

# An unknown backend is an error, not perf_event_open.
export UPMU_BACKEND=papy
expect 1 "$UPMU" list page-faults
has err "'papy' is not a backend"
expect 1 "$UPMU" stat -e page-faults -- true
has err "'papy' is not a backend"
run "$UPMU" doctor --json
json "$work/out" "assert any(f['topic'] == 'backend' and f['state'] == 'missing' for f in d['findings'])"
unset UPMU_BACKEND
run "$UPMU" doctor --json
json "$work/out" "assert any(f['topic'] == 'backend' and 'perf_event_open' in f['text'] for f in d['findings'])"
finish
