# SPDX-License-Identifier: MIT
# upmu gather: the archive, what is not in it, and that it answers elsewhere as the machine did. Then recordings that must
# be refused, since an answer from another machine would be believed.
. "$(dirname "$0")/lib.sh"

expect 0 "$UPMU" gather -o "$work/g.tar"
has out "g.tar: "
has out "without lines with serial numbers"
has out "/sys/bus/event_source"
empty err
tar -C "$work" -xf "$work/g.tar" 2>"$work/err" || fail "tar cannot unpack it"
empty err
root=$work/upmu-gather
for f in proc/cpuinfo proc/sys/kernel/osrelease proc/sys/kernel/perf_event_paranoid proc/self/limits \
    sys/bus/event_source/devices/software/type sys/devices/system/cpu/online upmu/findings upmu/trials upmu/version \
    upmu/manifest; do
    [ -s "$root/$f" ] || fail "no $f in the archive"
done
[ "$(cat /proc/sys/kernel/osrelease)" = "$(cat "$root/proc/sys/kernel/osrelease")" ] || fail "osrelease differs"

# The manifest names every file and no other, with its size and checksum; nothing lies outside the one folder.
python3 - "$work/g.tar" <<'PYTHON' || fail "manifest or archive"
import sys, tarfile
def checksum(data):
    total = 0xcbf29ce484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001b3 % 2**64
    return total
tar = tarfile.open(sys.argv[1], "r:")
files = {m.name: tar.extractfile(m).read() for m in tar}
assert all(m.isfile() and m.uid == 0 and m.uname == "" for m in tar), "owners, or no plain files"
assert all(n.startswith("upmu-gather/") and ".." not in n for n in files), "a name leads elsewhere"
listed = {}
for line in files.pop("upmu-gather/upmu/manifest").decode().splitlines():
    total, size, path = line.split(" ", 2)
    listed["upmu-gather/" + path] = (int(size), int(total, 16))
assert listed == {n: (len(d), checksum(d)) for n, d in files.items()}, "the manifest does not agree"
PYTHON

# Private things: host name, network addresses, other processes.
private=$(mktemp "$work/private.XXXX")
cat /sys/class/net/*/address 2>/dev/null | grep -v '^00:00:00:00:00:00$' >"$private"
cat /proc/sys/kernel/random/boot_id >>"$private"
host=$(uname -n)
[ ${#host} -lt 5 ] || echo "$host" >>"$private"
sed -i '/^$/d' "$private"
! grep -rqFf "$private" "$root" || fail "private: $(grep -rFf "$private" "$root" | head -3)"
[ -z "$(find "$root/proc" -mindepth 1 -maxdepth 1 ! -name cpuinfo ! -name sys ! -name self)" ] || fail "more of /proc"

# Names and sizes at the edges of the form.
expect 0 "$TAR_NAMES" "$work/edges.tar"
python3 - "$work/edges.tar" "$work/out" <<'PYTHON' || fail "names or sizes at the edges"
import sys, tarfile
rows = [tuple(map(int, l.split())) for l in open(sys.argv[2])]
wanted = [(n, s) for n, s, rc in rows if rc == 0]
assert [n for n, s, rc in rows if rc != 0] == [300, 101, 5, 0], rows
tar = tarfile.open(sys.argv[1], "r:")
assert [(len(m.name), m.size) for m in tar] == wanted, [(len(m.name), m.size) for m in tar]
assert all(tar.extractfile(m).read() == b"x" * m.size and m.mtime == 1700000000 for m in tar)
PYTHON
tar -tf "$work/edges.tar" >/dev/null 2>"$work/err" || fail "tar does not read the edges"
empty err

# The recording answers as the machine. Left out: how much the trials saw, whether rare events were seen, and the clock's
# measured pace.
cat >"$work/same.py" <<'PYTHON'
import json, sys
def known(path):
    d = json.load(open(path))
    for e in d.get("events", []) + d.get("metrics", []):
        e.pop("seen")
        if e.get("trial") == "not seen":
            e["trial"] = "verified"
    for f in d.get("findings", []):
        if f["topic"] == "clock":
            f.pop("text")
    return d
a, b = known(sys.argv[1]), known(sys.argv[2])
for kind in "events", "metrics", "findings":
    for x, y in zip(a.get(kind, []), b.get(kind, [])):
        assert x == y, "%s\n%s" % (x, y)
assert a == b, "one has more"
PYTHON
for command in list doctor; do
    run "$UPMU" $command --json
    live_status=$status
    cp "$work/out" "$work/live.json"
    expect "$live_status" env UPMU_FSROOT="$root" "$UPMU" $command --json
    python3 "$work/same.py" "$work/live.json" "$work/out" || fail "$command answers differently for the recording"
done
expect 0 env UPMU_FSROOT="$root" "$UPMU" list --json page-faults
json "$work/out" 'assert d["events"][0]["trial"] == "verified" and d["events"][0]["seen"] > 0'
expect 1 env UPMU_FSROOT="$root" "$UPMU" gather -o "$work/again.tar"
has err "UPMU_FSROOT is set"
expect 1 "$UPMU" gather -o "$work/no/such/folder.tar"
expect 2 "$UPMU" gather file.tar

# A machine recorded by hand can be listed, its trials are unknown; the running machine is not asked instead.
expect 0 env UPMU_FSROOT="$MACHINES/kunpeng920" "$UPMU" list --json
json "$work/out" '
e = {e["name"]: e for e in d["events"]}
assert e["page-faults"]["countable"] is False and "has no trial" in e["page-faults"]["reason"], e["page-faults"]'
run env UPMU_FSROOT="$MACHINES/kunpeng920" "$UPMU" doctor --json
json "$work/out" 'assert any(f["topic"] == "permission" and "unknown: it needs a trial" in f["text"] for f in d["findings"])'
if "$UPMU" list --no-probe native::perf::PAGE-FAULTS >/dev/null 2>&1; then
    expect 1 env UPMU_FSROOT="$MACHINES/kunpeng920" "$UPMU" list native::perf::PAGE-FAULTS
fi

# A new Arm core has the architecture's table, and the doctor reports it; a guest's PMUv3 does not use Apple's encodings.
run env UPMU_FSROOT="$MACHINES/arm64_new_core" "$UPMU" doctor --json
json "$work/out" '
f = {f["topic"]: f["text"] for f in d["findings"]}
assert "unknown core" in f["cpu"] and "table '"'armv8'"'" in f["cpu"] and "only the events of the arch" in f["cpu"], f["cpu"]'
run env UPMU_FSROOT="$MACHINES/apple_m1_guest" "$UPMU" doctor --json
json "$work/out" '
f = {f["topic"]: f["text"] for f in d["findings"]}
assert "table '"'armv8'"'" in f["cpu"] and "apple" not in f["cpu"], f["cpu"]'

# A snapshot of Arm's id registers alone is a machine with all its core types; the CPU of this machine is not read.
expect 0 env UPMU_FSROOT="$MACHINES/phytium_e2000q_registers" "$UPMU" list --no-probe --json cycles
run env UPMU_FSROOT="$MACHINES/phytium_e2000q_registers" "$UPMU" doctor --json
json "$work/out" '
f = {f["topic"]: f["text"] for f in d["findings"]}
assert "table '"'ftc310'"'" in f["cpu"] and "table '"'ftc664'"'" in f["cpu"], f["cpu"]
assert f["identity"] == "/proc/cpuinfo cannot be read (ENOENT); the id register in sysfs describes it", f["identity"]'
grep -q "$(printf '\tidentity\tfrom /proc/cpuinfo')" "$root/upmu/findings" || fail "the archive lacks the source of the identity"

# refused WORDS: both commands refuse the recording in $work/bad, with these words and without an answer.
refused() {
    for command in list doctor "list --no-probe"; do
        # shellcheck disable=SC2086
        expect 1 env UPMU_FSROOT="$work/bad" "$UPMU" $command
        has err "not a usable machine snapshot"
        has err "$1"
        ! grep -q 'task-clock\|table' "$work/out" || fail "an answer from a bad recording ($1)"
    done
}
bad() {
    rm -rf "$work/bad"
    cp -r "$root" "$work/bad"
}
by_hand() {
    bad
    rm -r "$work/bad/upmu"
}
bad; rm "$work/bad/proc/cpuinfo"; refused "proc/cpuinfo"
bad; echo >>"$work/bad/proc/cpuinfo"; refused "proc/cpuinfo differs from what was recorded"
bad; echo 7 >"$work/bad/proc/sys/kernel/perf_event_paranoid"; refused "perf_event_paranoid differs from what was recorded"
bad; rm "$work/bad/upmu/trials"; refused "upmu/trials"
bad; head -c 300 "$root/upmu/manifest" >"$work/bad/upmu/manifest"; refused "upmu/manifest"
by_hand; rm "$work/bad/proc/cpuinfo"; refused "no proc/cpuinfo"
by_hand; ln -sf /proc/cpuinfo "$work/bad/proc/cpuinfo"; refused "proc/cpuinfo"
by_hand; head -c 5000 /dev/urandom >"$work/bad/proc/cpuinfo"; refused "proc/cpuinfo"
by_hand; : >"$work/bad/proc/cpuinfo"; refused "proc/cpuinfo"
by_hand; head -c 200 "$root/proc/cpuinfo" | sed -z 's/\n*$//' >"$work/bad/proc/cpuinfo"; refused "middle of a line"
by_hand; echo 0 >"$work/bad/sys/devices/system/cpu/online"
printf 'processor\t: 98\nprocessor\t: 99\n' >>"$work/bad/proc/cpuinfo"; refused "processors, but online are 0"
by_hand; echo 1 >"$work/bad/sys/bus/event_source/devices/tracepoint/type"; refused "have the same type 1"
by_hand; echo none >"$work/bad/sys/bus/event_source/devices/software/type"; refused "software/type"
by_hand; cp "$MACHINES/kunpeng920/proc/cpuinfo" "$work/bad/proc/cpuinfo"
mkdir -p "$work/bad/sys/bus/event_source/devices/cpu_core"
echo 99 >"$work/bad/sys/bus/event_source/devices/cpu_core/type"; refused "which has no PMU"
rm -rf "$work/bad"; refused "proc/cpuinfo"
cp -r "$MACHINES/phytium_e2000q_registers" "$work/bad"
mkdir "$work/bad/proc"
cp "$MACHINES/kunpeng920/proc/cpuinfo" "$work/bad/proc/cpuinfo"; refused "another CPU than its proc/cpuinfo"
by_hand
expect 0 env UPMU_FSROOT="$work/bad" "$UPMU" list page-faults
finish
