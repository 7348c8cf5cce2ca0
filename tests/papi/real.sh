# SPDX-License-Identifier: MIT
# The real libpapi: programs that check their counts against what they did themselves, run once more through it. Those for
# which PAPI has no way (commands, inheritance, other PMUs, pages) are not among them.
#
#     real.sh KNOWN_CPU UPMU PROGRAM     KNOWN_CPU: the object of known_cpu.c, preloaded where libpfm4 lacks the CPU
known_cpu=$1 upmu=$2 program=$3
export UPMU_BACKEND=papi LC_ALL=C

# backend: what the doctor reports about it; empty if it can be used.
backend() {
    "$upmu" doctor --json | python3 -c '
import json, sys
f = next(f for f in json.load(sys.stdin)["findings"] if f["topic"] == "backend")
print("" if f["state"] == "ok" else f["text"])'
}

why=$(backend)
if [[ $why == *"no default PMU"* || $why == *"no PMUs found"* ]]; then
    echo "libpfm4 does not support this CPU: known_cpu.so makes it do so"
    # A sanitizer's own library must stay the first.
    first=$(ldd "$program" | sed -n 's/.*=> \(.*lib[at]san[^ ]*\).*/\1/p' | head -n 1)
    export LD_PRELOAD=${first:+$first:}$known_cpu
    why=$(backend)
fi
if [ -n "$why" ]; then
    echo "skipped, because PAPI cannot count here: $why"
    exit 77
fi
exec "$program"
