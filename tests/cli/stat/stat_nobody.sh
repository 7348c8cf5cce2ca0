# SPDX-License-Identifier: MIT
# upmu as an unprivileged user: what is permitted is counted, the rest has a reason and is never 0.
. "$(dirname "$0")/../lib.sh"
[ "$(id -u)" -eq 0 ] || skip "only root can become another user"
command -v setpriv >/dev/null || skip "setpriv is not installed"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null) || skip "this kernel has no perf events"

# The build folder may be closed to others: a copy is used.
mkdir "$work/bin"
cp "$UPMU" "$LOAD" "$work/bin"
IFS=: read -ra libs <<<"$UPMU_LIBS"
for lib in "${libs[@]}"; do
    cp "$lib" "$work/bin/$(readelf -d "$lib" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')"
done
chmod -R a+rX "$work"
as_nobody() {
    LD_LIBRARY_PATH="$work/bin" setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
upmu=$work/bin/$(basename "$UPMU")
load=$work/bin/$(basename "$LOAD")

run as_nobody "$upmu" stat --json -e task-clock,page-faults,context-switches,cpu-migrations "$load" touch 1000
[ "$status" -eq 0 ] || { fail "stat ended with $status"; show >&2; }
cp "$work/err" "$work/json"
json "$work/json" "
values = {e['name'].split(':')[0]: e for e in d['events']}
for e in d['events']:
    number = e['status'] in ('exact', 'scaled')
    assert (e['value'] is not None) == number, e
    assert number or (e['cause'] and e['reason']), e
paranoid = $paranoid
if paranoid <= 2:
    assert values['task-clock']['value'] > 10000, values['task-clock']
    assert values['page-faults']['value'] >= 1000, values['page-faults']
if paranoid == 2:
    assert values['page-faults']['name'].endswith(':u'), values['page-faults']
if paranoid >= 2:
    migrations, switches = values['cpu-migrations'], values['context-switches']
    assert migrations['status'] == 'refused' and 'perf_event_paranoid' in migrations['reason'], migrations
    assert switches['status'] == 'exact' and switches['source'] == 'rusage', switches
"

# For people a reason that two events share is printed once.
if [ "$paranoid" -ge 2 ]; then
    run as_nobody "$upmu" stat -e page-faults:u,context-switches:k,cpu-migrations "$load" touch 1
    has err "refused: context-switches:k, cpu-migrations"
    [ "$(grep -c 'perf_event_paranoid is' "$work/err")" -eq 1 ] || { fail "a reason is repeated"; show >&2; }
fi

# The trial of upmu list is made with a thread of its own, where switches can be had without the kernel's leave.
run as_nobody "$upmu" list --json
cp "$work/out" "$work/list"
json "$work/list" "
events = {e['name']: e for e in d['events']}
assert events['page-faults']['countable'] == ($paranoid <= 2)
assert events['cpu-migrations']['countable'] == ($paranoid <= 1), events['cpu-migrations']
"
run as_nobody "$upmu" doctor
[ "$status" -le 1 ] && grep -q permission "$work/out" || { fail "doctor"; show >&2; }

# A process of another user is refused at once, not waited for.
sleep 600 &
other=$!
run as_nobody timeout 60 "$upmu" stat -e task-clock,page-faults -p $other
[ "$status" -eq 1 ] || { fail "another user's process: status $status"; show >&2; }
[ "$paranoid" -lt 2 ] || has err "belongs to user 0"
run as_nobody timeout 60 "$upmu" stat -p $other
[ "$status" -eq 1 ] || { fail "another user's process, default events: status $status"; show >&2; }
kill $other

if [ "$paranoid" -gt 0 ]; then
    run as_nobody timeout 60 "$upmu" stat -e task-clock -C 0 --for 5
    [ "$status" -eq 1 ] || fail "a CPU: status $status"
    has err perf_event_paranoid
fi
finish
