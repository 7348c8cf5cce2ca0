#!/usr/bin/env bash
# Where one library was and another came, each call is of the one that was there then: in sites and in stacks, in a trace that
# grows and in a ring. And nothing is known to have gone that has not.
set -euo pipefail
bin=$1 lib=$2 upmu=$3 first=$4 second=$5
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# functions DIR: which functions took how often, as the report says
functions()
{
    "$upmu" report --json "$1" | python3 -c '
import collections, json, sys
taken = collections.Counter()
for o in json.load(sys.stdin)["objects"]:
    for site in o["sites"] if o["type"] == "mutex" else []:
        # a holder that had not yet written down where it took the mutex has no place, and took nothing there
        functions = site["place"]["functions"] if site["place"] else []
        taken[functions[0]["function"] if functions else "?"] += site["taken"]
print(" ".join(f"{name}={taken[name]}" for name in sorted(taken) if taken[name]))'
}

for policy in grow ring:1M; do
    for depth in none 16; do
        dir=$scratch/$policy-$depth
        said=$(UPMU_TRACE_POLICY=$policy UPMU_SYNC_STACKS=$depth record "$dir" all "$bin/sync_turns" "$first" "$second")
        read -r times where <<<"$said"
        if [ "$where" != same ]; then
            echo "skipped, because the loader has put the two libraries into different places"
            exit 77
        fi
        got=$(functions "$dir")
        [ "$got" = "first_taker=$times second_taker=$times" ] || fail "$policy, $depth frames: '$got' of $times each"
    done
done
