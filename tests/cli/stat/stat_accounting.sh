# SPDX-License-Identifier: MIT
# upmu stat without the right to count: faults, switches and times come from the kernel's accounting, are right, and are marked
# in text, CSV and JSON. Under filters that deny perf_event_open, and for a user at perf_event_paranoid 2.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../attach.sh"
events=page-faults,minor-faults,major-faults,context-switches,user-time,system-time,cpu-migrations
export TOUCHED=3000 SLEEPS=20
counters=()
# Known work: so many pages, so many sleeps.
work_words=(sh -c '"$0" touch $TOUCHED; i=0; while [ $i -lt $SLEEPS ]; do sleep 0.001; i=$((i + 1)); done' "$LOAD")

# judge FILE ERRNO: the report of the known work under a filter.
judge() {
    python3 - "$1" "$2" <<'PYTHON'
import json, os, sys
d = json.load(open(sys.argv[1]))
errno, touched, sleeps = sys.argv[2], int(os.environ["TOUCHED"]), int(os.environ["SLEEPS"])
e = {x["name"]: x for x in d["events"]}
for name in "page-faults", "minor-faults", "major-faults", "context-switches", "user-time", "system-time":
    assert e[name]["status"] == "exact" and e[name]["source"] == "rusage", e[name]
    assert e[name]["cause"] is None and e[name]["reason"] is None, e[name]
assert e["page-faults"]["value"] == e["minor-faults"]["value"] + e["major-faults"]["value"], e
assert touched < e["page-faults"]["value"] < touched + 6000, e["page-faults"]
assert sleeps <= e["context-switches"]["value"] < 100 * sleeps, e["context-switches"]
assert abs((e["user-time"]["value"] * 1e-9) - d["user_s"]) < 1e-6 and e["user-time"]["unit"] == "ns"
assert 0 < e["user-time"]["value"] + e["system-time"]["value"] < d["elapsed_s"] * 1e9 * 64
refused = e["cpu-migrations"]
assert refused["value"] is None and refused["source"] is None and errno in refused["reason"], refused
assert refused["status"] == ("unsupported" if errno == "ENOSYS" else "refused"), refused
PYTHON
}

for errno in EACCES EPERM ENOSYS; do
    run "$WITHOUT_PERF" $errno -- "$UPMU" stat --json -e $events "${work_words[@]}"
    [ "$status" -ne 77 ] || skip "this kernel takes no seccomp filter"
    [ "$status" -eq 0 ] || { fail "stat under $errno ended with $status"; show >&2; }
    judge "$work/err" $errno || { fail "the accounting under $errno"; show >&2; }
    # The doctor and stat name the same cause.
    run "$WITHOUT_PERF" $errno -- "$UPMU" doctor
    cause="perf_event_open is denied ($errno) by the seccomp filter"
    [ $errno != ENOSYS ] || cause="perf_event_open does not exist here (ENOSYS): the seccomp filter"
    has out "$cause"
    has_not out "counted through"
    run "$WITHOUT_PERF" $errno -- "$UPMU" stat -e cpu-migrations true
    has err "$cause"
done

# The marks for people and in CSV.
run "$WITHOUT_PERF" EPERM -- "$UPMU" stat -e page-faults,task-clock true
grep -Eq "[0-9]+ +page-faults +exact, from rusage" "$work/err" || { fail "no source in the text"; show >&2; }
has err "rusage: by the kernel's accounting"
has err "refused: task-clock"
run "$WITHOUT_PERF" EPERM -- "$UPMU" stat --csv -e page-faults,task-clock,user-time true
grep -Eq '^[0-9]+,,page-faults,[0-9]+,100.00,,rusage$' "$work/err" || { fail "no source in CSV"; show >&2; }
grep -Eq '^<not supported>,msec,task-clock,0,0.00,,$' "$work/err" || { fail "CSV of what is refused"; show >&2; }
grep -Eq '^[0-9.]+,msec,user-time,[0-9]+,100.00,,rusage$' "$work/err" || { fail "CSV of user-time"; show >&2; }

# What is counted and what is accounted for agree: the same command under both, without random addresses.
few() { # WORDS...: faults of a known program, the least of several runs
    local least=
    for _ in 1 2 3 4 5; do
        "$@" --json -o "$work/json" -e page-faults -- setarch -R "$LOAD" touch 4000 || return 1
        n=$(total "$work/json" page-faults)
        [ -n "$least" ] && [ "$least" -le "$n" ] || least=$n
    done
    echo "$least"
}
if [ -z "${SANITIZED:-}" ] && command -v setarch >/dev/null && "$UPMU" stat -e page-faults:uk true 2>/dev/null; then
    counted=$(few "$UPMU" stat) || fail "counting"
    accounted=$(few "$WITHOUT_PERF" EPERM -- "$UPMU" stat) || fail "accounting"
    # The accounting has the pages of the new program that the kernel fills itself.
    [ $((accounted - counted)) -ge -2 ] && [ $((accounted - counted)) -le 20 ] ||
        fail "$counted faults counted, $accounted accounted for"
fi

# Running processes and threads, by /proc: two threads touch pages and sleep when a line arrives, and stay alive.
cat >"$work/worker.py" <<'PYTHON'
import mmap, sys, threading, time
start, done, end = threading.Barrier(3), threading.Barrier(3), threading.Barrier(3)
def work():
    start.wait()
    pages = mmap.mmap(-1, 700 * mmap.PAGESIZE)
    pages.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range(700):
        pages[i * mmap.PAGESIZE] = 1
    for _ in range(30):
        time.sleep(0.001)
    done.wait()
    end.wait()
threads = [threading.Thread(target=work) for _ in range(2)]
for t in threads:
    t.start()
print("ready", threads[0].native_id, flush=True)
sys.stdin.readline()
start.wait()
done.wait()
print("done", flush=True)
sys.stdin.readline()
end.wait()
PYTHON
mkfifo "$work/word"
python3 "$work/worker.py" <"$work/word" >"$work/printed" &
worker=$!
exec 7>"$work/word"
wait_until 60 grep -q ready "$work/printed" || fail "the worker did not start"
tid=$(awk '{ print $2 }' "$work/printed")
for which in "p $worker" "t $tid"; do
    # shellcheck disable=SC2086
    "$WITHOUT_PERF" EPERM -- "$UPMU" stat --json -o "$work/json${which%% *}" -e page-faults,context-switches,user-time \
        -$which --for 600 7>&- 2>"$work/stat-${which%% *}" &
    counters+=($!)
done
waits() { grep -q poll "/proc/$1/wchan" 2>/dev/null || threads_sleep "$1"; }
for counter in "${counters[@]}"; do
    wait_until 60 waits "$counter" || fail "upmu stat did not begin to count"
done
sleep 0.2 # what it does before it waits for the process is short, and it sleeps nowhere
echo go >&7
wait_until 60 grep -q "done" "$work/printed" || fail "the worker did not work"
for counter in "${counters[@]}"; do
    kill -TERM "$counter"
    wait "$counter" || { fail "stat by /proc ended with $?"; cat "$work"/stat-* >&2; }
done
exec 7>&-
wait $worker
json "$work/jsonp" "
e = {x['name']: x for x in d['events']}
assert e['page-faults']['source'] == '/proc' and 1400 <= e['page-faults']['value'] < 1700, e
assert e['page-faults']['status'] == 'exact' and e['user-time']['source'] == '/proc', e
assert e['context-switches']['status'] == 'refused' and e['context-switches']['value'] is None, e
"
json "$work/jsont" "
e = {x['name']: x for x in d['events']}
assert e['page-faults']['source'] == '/proc' and 700 <= e['page-faults']['value'] < 900, e
assert e['context-switches']['source'] == '/proc' and 30 <= e['context-switches']['value'] < 3000, e
"

# A user at paranoid 2: switches of a command, which the kernel counts for root alone.
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)
if [ "$(id -u)" -eq 0 ] && [ "$paranoid" = 2 ] && command -v setpriv >/dev/null; then
    mkdir "$work/bin"
    cp "$UPMU" "$LOAD" "$work/bin"
    chmod -R a+rX "$work"
    upmu=$work/bin/$(basename "$UPMU")
    as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    if "${as_nobody[@]}" "$upmu" --version >/dev/null 2>&1; then
        run "${as_nobody[@]}" "$upmu" stat --json -e context-switches,page-faults,cpu-migrations sh -c \
            'for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done'
        cp "$work/err" "$work/json"
        json "$work/json" "
switches, faults, migrations = d['events']
assert switches['status'] == 'exact' and switches['source'] == 'rusage' and 8 <= switches['value'] < 500, switches
assert faults['name'] == 'page-faults:u' and faults['source'] == 'perf_event' and faults['value'] > 0, faults
assert migrations['status'] == 'refused' and 'perf_event_paranoid' in migrations['reason'], migrations
"
        # A filter in front of a kernel that would refuse as well: it is the filter that must go first.
        cp "$WITHOUT_PERF" "$work/bin"
        chmod -R a+rX "$work/bin"
        for errno in EACCES EPERM; do
            for words in "stat -e cpu-migrations true" "doctor"; do
                # shellcheck disable=SC2086
                run "${as_nobody[@]}" "$work/bin/without_perf" $errno -- "$upmu" $words
                grep -q "denied ($errno) by the seccomp filter" "$work/out" "$work/err" ||
                    { fail "a filter with $errno is taken for perf_event_paranoid: $words"; show >&2; }
                has_not out "perf_event_paranoid is 2"
                has_not err "perf_event_paranoid is 2"
            done
        done
    fi
fi
finish
