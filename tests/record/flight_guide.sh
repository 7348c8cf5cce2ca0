# SPDX-License-Identifier: MIT
# The guide's page on the flight recorder: its units are accepted by systemd, and its container recipe takes a snapshot.
. "$(dirname "$0")/lib.sh"
guide=$(dirname "$CLI_LIB")/../../docs/guide/flight-recorder.md

# block LANGUAGE N: the Nth block of the page in that language.
block() {
    awk -v fence="\`\`\`$1" -v wanted="$2" '$0 == fence { n++; inside = 1; next } /^```/ { inside = 0 } inside && n == wanted' "$guide"
}

skipped=''
if command -v systemd-analyze >/dev/null; then
    mkdir -p units/example.service.d
    printf '[Service]\nExecStart=/bin/true\nUser=root\n' >units/example.service
    block ini 1 >units/example.service.d/flight-recorder.conf
    block ini 2 | sed "s|/usr/bin/upmu|$UPMU|; s|^User=.*|User=root|" >units/example-recorder.service
    [ -s units/example.service.d/flight-recorder.conf ] && [ -s units/example-recorder.service ] || fail "the page has no units"
    SYSTEMD_UNIT_PATH=$work/units: systemd-analyze verify --man=no "$work/units/example-recorder.service" "$work/units/example.service" \
        >verified 2>&1 || fail "systemd refuses a unit: $(cat verified)"
    ! grep -q "$work/units" verified || fail "systemd complains: $(cat verified)"
else
    skipped="there is no systemd-analyze"
fi

# Two containers that share process ids and a volume, each with mounts of its own. The variables and the command are the page's.
block yaml 1 >recipe
value() {
    sed -n "s/^ *$1: //p" recipe | head -1
}
[ "$(value UPMU_SNAPSHOT_ON)" ] && [ "$(value command)" ] || fail "the page has no recipe"
if unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
    mkdir volume app side
    # shellcheck disable=SC2016
    cat >pod.sh <<'END'
set -e
program() { # with the volume in a place of its own
    mount --bind volume app
    exec env LD_PRELOAD="$PRELOAD" UPMU_SYNC="$SYNC" UPMU_TRACE="$PWD/app" UPMU_TRACE_POLICY="$POLICY" UPMU_SNAPSHOT_ON="$ON" \
        "$WORKER" "$PWD/over" >/dev/null
}
sidecar() {
    mount --bind volume side
    exec $COMMAND
}
export -f program sidecar
unshare --mount bash -c sidecar >sidecar.log 2>&1 &
sidecar=$!
unshare --mount bash -c program &
program=$!
for i in $(seq 1200); do
    [ -d snapshots/1 ] && break
    sleep 0.05
done
touch over
wait $program
kill -TERM $sidecar
wait $sidecar
END
    command=$(value command | sed "s|^upmu|$UPMU|; s|/recording|$work/side|; s|/snapshots|$work/snapshots|")
    COMMAND=$command SYNC=$(value UPMU_SYNC) POLICY=$(value UPMU_TRACE_POLICY) ON=$(value UPMU_SNAPSHOT_ON | sed 's/100 ms/100 us/') \
        PRELOAD=$PRELOAD WORKER=$WORKER unshare --pid --fork --mount-proc --mount bash pod.sh >pod.log 2>&1 ||
        fail "the pod ended with $?: $(cat pod.log sidecar.log)"
    [ -d snapshots/1 ] || fail "the sidecar took no snapshot: $(cat sidecar.log)"
    at_least 1 snapshots/1 block
else
    skipped="${skipped:+$skipped, and }namespaces cannot be made"
fi
# shellcheck disable=SC2154 # counted by fail
[ "$failures" -gt 0 ] || [ -z "$skipped" ] || skip "$skipped"
finish
