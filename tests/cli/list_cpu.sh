# SPDX-License-Identifier: MIT
# upmu list --cpu: the table of any CPU on any machine, by family or chip; and every row against the facts it was made of.
. "$(dirname "$0")/lib.sh"

expect 0 "$UPMU" list --cpus
for cpu in gs464e la664 core3a core3b core4 sunway hygon zx-e kunpeng920 ftc310 c910 p550 x60 riscv-sbi generic; do
    grep -q "^$cpu " "$work/out" || { fail "--cpus does not show $cpu"; show >&2; }
done
expect 0 "$UPMU" list --cpus --json
json "$work/out" '
assert d["schema"] == "upmu-list-cpus"
cpus = {c["name"]: c for c in d["cpus"]}
assert cpus["zen3"]["counters"] == 6 and cpus["core3b"]["counter_bits"] == 58
assert all(c["title"] and c["rule"] for c in d["cpus"])
'
expect 0 "$UPMU" list --cpus --csv
grep -q '^gs464e,' "$work/out" || fail "--cpus --csv"

# Chips lead to their family, however they are spelled.
while read -r chip family; do
    expect 0 "$UPMU" list --cpu "$chip" --json cycles
    json "$work/out" "assert d['cpu']['name'] == '$family', d['cpu']['name']"
done <<'CHIPS'
3a5000 la464
Loongson-3A6000 la664
loongson3a3000 gs464e
3A1000 gs464
2f loongson2ef
sw831 core3b
SW26010 sunway
SW421 core3a
sunway-sw1621 core3a
T-Head-C920 c910
TH1520 c910
D1 c906
JH7110 u74
sifive-p550 p550
EIC7700X p550
K1 x60
kx-6000 zx-e
KX7000 kx-7000
phytium-d2000 ftc663
FT-2000+ ftc662
ft-2000/4 ftc663
Kunpeng-920 kunpeng920
kunpeng920 kunpeng920
hygon-dhyana hygon
skylake intel-skylake
amd-zen4 zen4
GENERIC generic
CHIPS

expect 1 "$UPMU" list --cpu 3a50000
has err "did you mean '3a5000'?"
expect 1 "$UPMU" list --cpu ''
has err "upmu list --cpus"
expect 1 "$UPMU" list --cpu pdp11-of-my-grandmother
has err "upmu list --cpus"
expect 0 "$UPMU" list --cpu zen3 --metrics
has out "branch-miss-ratio"
has_not out "EVENT"
expect 2 "$UPMU" list --cpus zen3

# Text output for a table: CPU, notes, encodings and counters. No event is opened.
expect 0 "$UPMU" list --cpu sw831
has out "Sunway core3B"
has out "vendor kernels only"
grep -Eq '^cycles +hardware:0x0 \(raw 0x8\) +0 +exact' "$work/out" || { fail "cycles of core3B"; show >&2; }
grep -Eq '^l1d-miss +cpu:0x132 +1 +exact' "$work/out" || { fail "l1d-miss of core3B"; show >&2; }
has_not out "COUNTS HERE"
has_not out "ipc"
expect 0 "$UPMU" list --cpu 3a3000 --json l1i-miss
json "$work/out" '
e = d["events"][0]
assert (e["type"], e["config"], e["raw_encoding"], e["generic"]) == (3, 0x10001, 0x18, "hw-cache:0x10001"), e
assert "0x18" in e["choice"] and "generic" in e["choice"] and e["countable"] is None
'
expect 0 "$UPMU" list --cpu hygon --json branches
json "$work/out" '
e = next(e for e in d["events"] if e["name"] == "branches")
assert (e["type"], e["config"], e["raw_encoding"], e["generic"]) == (4, 0xc2, 0xc2, "hardware:0x4"), e
'
# Raw encodings, native names and modifiers use the given CPU's table; names of the running kernel do not.
expect 0 "$UPMU" list --cpu core4 native::SW64_PMU_CYCLE
has out "cpu:0x30"
expect 0 "$UPMU" list --cpu core4 r8d
expect 0 "$UPMU" list --cpu zx-e cycles:u
expect 1 "$UPMU" list --cpu zx-e native::SW64_PMU_CYCLE
has err "Zhaoxin"
expect 1 "$UPMU" list --cpu zx-e cpu/event=0x3c/
expect 0 "$UPMU" list --cpu zen3 --native 'native::ls_*'
has out native::ls_int_taken
expect 0 "$UPMU" list --cpu gs464e --native
has out native::l1d-store-miss
expect 1 "$UPMU" list --cpu sw421 --native
has err "no event"

# upmu explain prints why one encoding was chosen.
expect 0 "$UPMU" explain l1i-miss --cpu 3a3000
grep -Eq '^generic +hw-cache:0x10001$' "$work/out" || { fail "generic event of l1i-miss"; show >&2; }
grep -Eq '^raw +0x18$' "$work/out" || { fail "raw code of l1i-miss"; show >&2; }
has out "kernel encodes as 0x18"
has out "would count something else"
expect 0 "$UPMU" explain --cpu hygon branches
has out "the raw encoding"
has out "kernels from 6.9 on"
expect 0 "$UPMU" explain --cpu zen3 l1d-load
has out "the kernel would use 0x40 for its hw-cache:0x0"
expect 0 "$UPMU" explain --cpu la664 l1d-access
has out "though its hardware:0x2 has the same encoding"
expect 0 "$UPMU" explain --cpu gs464 mem-read
has out "the kernel has no perf generic event for it"
expect 0 "$UPMU" explain --cpu intel-nehalem mem-read
has out "the kernel has no perf generic event for it"
expect 0 "$UPMU" explain --cpu intel-skymont llc-load-miss
has out "with a second register of its own"
expect 0 "$UPMU" explain --cpu zen1 llc-miss --json
json "$work/out" 'assert d["event"]["match"] == "absent" and d["event"]["config"] is None and d["cpu"]["name"] == "zen1"'
# An absent event has a reason and related events.
expect 0 "$UPMU" explain --cpu zen1 llc-miss
has out "for whole CPUs only; near: l2-miss (demand misses of the L1 caches only"
expect 0 "$UPMU" explain --cpu generic stall-any
has out "near: stall-frontend, stall-backend"
expect 0 "$UPMU" list --cpu zen1
has out "for whole CPUs only; near: l2-miss (demand misses of the L1 caches only"
expect 0 "$UPMU" explain page-faults
has out "software:0x2"
# The perf syntax for the same event: perf's generic name, else the raw encoding; none for a sum of events.
while read -r cpu event words; do
    expect 0 "$UPMU" explain --cpu "$cpu" "$event"
    grep -Eq "^perf +$words\$" "$work/out" || { fail "$event of $cpu in perf's words"; show >&2; }
    expect 0 "$UPMU" explain --cpu "$cpu" --json "$event"
    json "$work/out" "assert d['event']['perf_words'] == '$words', d['event']['perf_words']"
done <<'WORDS'
zen3 instructions:u instructions:u
zen3 cycles cpu-cycles
zen3 context-switches context-switches
zen3 r1a8:uk cpu/config=0x1a8/uk
hygon branches cpu/config=0xc2/
la664 l1d-load-miss L1-dcache-load-misses
3a3000 l1i-miss L1-icache-load-misses
kunpeng920 l1d-load armv8_pmuv3_0/config=0x40/
WORDS
for event in PAPI_L1_TCM llc-miss; do
    expect 0 "$UPMU" explain --cpu gs464 "$event"
    ! grep -q '^perf' "$work/out" || { fail "$event of gs464 is not an event of perf"; show >&2; }
done
expect 1 "$UPMU" explain cyles
has err "did you mean 'cycles'?"
expect 1 "$UPMU" explain --cpu nosuch cycles
has err "no CPU 'nosuch'"
expect 2 "$UPMU" explain
expect 2 "$UPMU" explain cycles instructions

python3 "$GOLDEN/check.py" "$UPMU" "$GOLDEN" || fail "tables and facts differ"
finish
