# SPDX-License-Identifier: MIT
# A recording that must not grow beyond a size: what comes later is lost and counted, or ends it.
. "$(dirname "$0")/lib.sh"

# bytes DIR: of all streams
bytes() {
    stat -c %s "$1"/*/stream_* | awk '{ n += $1 } END { print n }'
}

# process DIR KEY: a member of the only process in the report
process() {
    "$UPMU" report --json "$1" | sed -n "s/.*\"$2\": *\([a-z0-9]*\).*/\1/p" | head -1
}

# 32 bytes for each of the rounds, in both threads: far more than fits.
status=0
"$UPMU" record --mode all --limit 256K -o lossy -- "$BUSY" 100000 >out 2>err || status=$?
[ "$status" -eq 1 ] || fail "a recording that lost events is complete: status $status, $(cat err)"
[ "$(bytes lossy)" -le $((256 * 1024)) ] || fail "$(bytes lossy) bytes"
[ "$(bytes lossy)" -gt $((128 * 1024)) ] || fail "only $(bytes lossy) bytes: this test tests nothing"
grep -q "process [0-9]* lost records: [0-9]* because no packet could be written: the size limit of the recording" err ||
    fail "the cause is not named: $(cat err)"
[ "$(process lossy lost)" -gt 0 ] || fail "nothing is lost"
[ "$(process lossy stopped)" = false ] || fail "it has not stopped"

# A wait whose end was lost is no wait to the end of the recording.
status=0
"$UPMU" record --limit 256K --packet 16K -o waits -- "$WORKER" 1500 >out 2>err || status=$?
[ "$(process waits lost)" -gt 0 ] || fail "nothing is lost: this test tests nothing"
expect 0 "$UPMU" report --json waits
! grep -q '"unfinished": *[1-9]' out || fail "waits last to the end: $(grep -o '"unfinished": *[1-9].*' out | cut -c1-300 | head -3)"
expect 0 "$UPMU" report waits
! grep -q 'still waiting' out || fail "$(grep 'still waiting' out)"
has out "waits and holds whose begin or end was lost are in no sum below"
grep -q '|-* *| *>= ' out || fail "BLOCKED has no lower bounds: $(grep '|' out)"

expect 0 "$UPMU" record --mode all --stop-at 256K -o ended -- "$BUSY" 100000
[ "$(bytes ended)" -le $((256 * 1024)) ] || fail "$(bytes ended) bytes"
[ "$(process ended lost)" -eq 0 ] || fail "the end of the recording is a loss"
[ "$(process ended stopped)" = true ] || fail "it has not stopped"
[ "$(process ended complete)" = true ] || fail "the process ended in good order"
grep -q 'recording stopped before the process ended' < <("$UPMU" report ended) || fail "the report does not show it"
expect 0 "$UPMU" record --stop-at 1G -o whole -- "$WORKER" 20
[ "$(process whole stopped)" = false ] || fail "it was not the limit that ended it"

# packets DIR: how large those of the streams are, the largest first; the last one of a stream may have been cut
packets() {
    python3 - "$1" <<'PYTHON'
import glob, struct, sys
sizes = set()
for path in glob.glob(sys.argv[1] + "/*/stream_*"):
    data, at = open(path, "rb").read(), 0
    while at < len(data):
        bits, = struct.unpack_from("Q", data, at + 48) # packet_size of docs/format.md
        sizes.add(bits // 8)
        at += bits // 8
print(*sorted(sizes, reverse=True))
PYTHON
}
for packet in 16K:16384 1M:1048576; do
    expect 0 "$UPMU" record --mode all --packet "${packet%:*}" -o "packets$packet" -- "$BUSY" 100000
    [ "$(packets "packets$packet" | cut -d' ' -f1)" -eq "${packet#*:}" ] || fail "packets of $(packets "packets$packet")"
    [ "$(process "packets$packet" lost)" -eq 0 ] || fail "events were lost"
done
for size in 15K 65M x ''; do expect 2 "$UPMU" record --packet "$size" true; done
env UPMU_TRACE=other UPMU_TRACE_PACKET=1 UPMU_SYNC=all LD_PRELOAD="$PRELOAD" "$WORKER" 10 >out 2>err || fail "the program ended"
has err "UPMU_TRACE_PACKET=1: a packet has 16K to 64M"

for size in 255K 2000G 0 -1M 1MB ''; do
    expect 2 "$UPMU" record --limit "$size" true
    expect 2 "$UPMU" record --stop-at "$size" true
done
expect 2 "$UPMU" record --ring 1M --limit 1M true
env UPMU_TRACE=other UPMU_TRACE_POLICY=stop:1k UPMU_SYNC=all LD_PRELOAD="$PRELOAD" "$WORKER" 10 >out 2>err ||
    fail "an invalid policy ends the program"
has err "UPMU_TRACE_POLICY=stop:1k: the limit is 256K"
finish
