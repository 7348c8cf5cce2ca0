#!/usr/bin/env bash
# Call sites, stacks and static locks in libraries that were loaded at the same addresses one after the other.
#
# Each call belongs to the library that was loaded at that time, in a growing trace and in a ring, and no library is recorded
# as unloaded that is not.
set -euo pipefail
bin=$1 lib=$2 upmu=$3 first=$4 second=$5
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# functions DIR: acquisitions of the program's mutex per function in the report, then the functions that acquire those of the libraries
functions()
{
    "$upmu" report --json "$1" | python3 -c '
import collections, json, sys
taken, own = collections.Counter(), set()
for o in json.load(sys.stdin)["objects"]:
    for site in o["sites"] if o["type"] == "mutex" else []:
        # a holder whose call site was not yet recorded has no call site, and acquired nothing there
        functions = site["site"]["functions"] if site["site"] else []
        function = functions[0]["function"] if functions else "?"
        if (o["name"] or "").endswith("_mutex"):
            own.update([function + ":" + o["name"]] if site["acquisitions"] else [])
        else:
            taken[function] += site["acquisitions"]
print(" ".join([f"{name}={taken[name]}" for name in sorted(taken) if taken[name]] + sorted(own)))'
}

for policy in grow ring:1M; do
    for depth in none 16; do
        dir=$scratch/$policy-$depth
        for _ in 1 2 3 4 5 6 7 8 9 10; do # where the loader puts them is up to address space randomization
            rm -rf "$dir"
            printed=$(UPMU_TRACE_POLICY=$policy UPMU_SYNC_STACKS=$depth record "$dir" all "$bin/sync_turns" "$first" "$second")
            read -r times where <<<"$printed"
            [ "$where" != same ] || break
        done
        if [ "$where" != same ]; then
            echo "skipped, because the loader has put the two libraries into different places"
            exit 77
        fi
        got=$(functions "$dir")
        own="first_taker:first_mutex second_taker:second_mutex"
        [ "$got" = "first_taker=$times second_taker=$times $own" ] || fail "$policy, $depth frames: '$got' of $times each"
    done
done
