#!/usr/bin/env bash
# modes.sh UPMU: samples are taken in the modes that the event's name has, and once per period.
set -euo pipefail
upmu=$1
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin
sampled

# record EVENT PERIOD: the samples as JSON in ./json
record()
{
    rm -rf recording
    "$upmu" record -e "$1" -c "$2" -o recording -- dd if=/dev/zero of=copy bs=1M count=8 2>err || fail "$1: $(cat err)"
    "$upmu" report --samples --json recording >json
}

# holds PYTHON: it is true of the report `d`; `kernel` is the samples in kernel mode
holds()
{
    python3 - "$1" <<'PY' || fail "$1: $(cat json)"
import json, sys
d = json.load(open("json"))
kernel = d["kernel"]
sys.exit(not eval(sys.argv[1]))
PY
}

# The buffer's pages are touched by read(), in the kernel.
record page-faults 1
holds 'kernel >= 200 and d["samples"] > kernel'
all=$(python3 -c 'import json; print(json.load(open("json"))["samples"])')
record page-faults:u 1
holds "kernel == 0 and 0 < d['samples'] <= $all - 200"
record page-faults:k 1
holds "kernel == d['samples'] and kernel >= 200"
record page-faults 100
holds "0 < d['samples'] <= $all / 20 and d['weight'] == 100 * d['samples']"
