#!/usr/bin/env bash
# `upmu stat` and `perf stat` on the same command, each around the other, so that both count the very same run.
#
#     bench/bench_stat.sh UPMU [--short] [--no-bars] [--json] [--no-heading]
#
# What the outer one counts more than the inner one is the inner tool's own start and end. That constant is measured with
# `true` as the command, and named in the last column; what is left must agree: page faults within 1 %, task-clock within
# 2 %, and context switches be of one kind (within 10 % and 10 switches: the inner tool's waiting is no constant).
# Exit status: 0 all bars met, 1 one missed or a tool failed, 77 skipped.
set -euo pipefail

upmu=${1:?usage: bench_stat.sh UPMU [--short] [--no-bars] [--json] [--no-heading]}
shift
runs=5 series=1 lines=1500000 slack=1 json=0 heading=1
for option; do
    case $option in
    --short) runs=3 series=5 lines=100000 slack=3 ;;
    --no-bars) slack=0 ;;
    --json) json=1 ;;
    --no-heading) heading=0 ;;
    *)
        echo "bench_stat.sh: unknown option $option" >&2
        exit 2
        ;;
    esac
done

events=task-clock,page-faults,context-switches
# Several processes, threads, pipes and fresh memory: faults and switches of every usual kind.
work=(sh -c "seq $lines | rev | LC_ALL=C sort --parallel=2 -S 32M | tail -n 1")

skip()
{
    echo "bench_stat skipped, because $*"
    exit 77
}

# skipped EVENT WHY: a row without a number
skipped()
{
    if [ $json -eq 1 ]; then
        printf '{"bench":"stat","name":"%s","verdict":"skipped","because":"%s"}\n' "$1" "$2"
    else
        printf '%-44s skipped, because %s\n' "upmu and perf stat, $1" "$2"
    fi
}

fail()
{
    echo "bench_stat FAILED, because $*" >&2
    exit 1
}

command -v perf >/dev/null || skip "there is no perf (Debian: linux-perf)"
perf stat -x, -e task-clock true >/dev/null 2>&1 || skip "perf stat does not work here: $(perf stat -e task-clock true 2>&1 | head -n 1)"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Counts of COMMAND by each tool go to $tmp/upmu and $tmp/perf.
# shellcheck disable=SC2317 # called by name, in collect()
upmu_inside() { perf stat -x, -o "$tmp/perf" -e "$events" -- "$upmu" stat --csv -o "$tmp/upmu" -e "$events" -- "$@"; }
# shellcheck disable=SC2317
perf_inside() { "$upmu" stat --csv -o "$tmp/upmu" -e "$events" -- perf stat -x, -o "$tmp/perf" -e "$events" -- "$@"; }

# value TOOL EVENT: its count; what is refused or not supported ends the comparison
value()
{
    local number
    number=$(awk -F, -v event="$2" '{ sub(/:u$/, "", $3) } $3 == event { print $1 }' "$tmp/$1")
    [[ $number =~ ^[0-9]+(\.[0-9]+)?$ ]] || fail "$1 stat has no number for $2: $(tr '\n' ' ' <"$tmp/$1")"
    echo "$number"
}

# collect NAME WAY COMMAND...: one line "upmu perf" per run and event in $tmp/NAME.EVENT
collect()
{
    local name=$1 way=$2 i event u p
    shift 2
    for event in ${events//,/ }; do : >"$tmp/$name.$event"; done
    for ((i = 0; i < runs; i++)); do
        "$way" "$@" >"$tmp/output" 2>&1 || fail "$way $* ended with $?: $(tail -n 3 "$tmp/output")"
        for event in ${events//,/ }; do
            u=$(value upmu "$event")
            p=$(value perf "$event")
            echo "$u $p" >>"$tmp/$name.$event"
        done
    done
}

# differences INNER EVENT CONSTANT EXTRA: a line "percent inner outer ratio" per run, the closest run first
differences()
{
    awk -v inner="$1" -v constant="$3" -v extra="$4" '
        $1 <= 0 || $2 <= 0 { print "a run counted nothing: " $0 >"/dev/stderr"; exit 1 }
        {
            in_ = inner == "upmu" ? $1 : $2
            out = inner == "upmu" ? $2 : $1
            off = out - constant - in_
            rest = (off < 0 ? -off : off) - extra
            print (rest > 0 ? 100 * rest / in_ : 0), in_, out, (out - constant) / in_
        }' "$tmp/work.$2" | sort -g
}

median()
{
    awk '{ line[NR] = $0 } END { print line[int((NR + 1) / 2)] }'
}

# row INNER EVENT PERCENT EXTRA: judge an event of one way round; EXTRA is an absolute allowance
row()
{
    local inner=$1 event=$2 percent=$3 constant off in out ratio outer=perf
    [ "$inner" = upmu ] || outer=upmu
    constant=$(awk -v inner="$inner" '{ print inner == "upmu" ? $2 - $1 : $1 - $2 }' "$tmp/true.$event" | sort -g | median)
    read -r off in out ratio < <(differences "$inner" "$event" "$constant" "$4" | median) || fail "no median of $event"
    [ -n "$ratio" ] || fail "there is nothing to compare in $event"
    awk -v name="$inner stat inside, $event" -v off="$off" -v in_="$in" -v out="$out" -v ratio="$ratio" -v outer="$outer" \
        -v percent="$percent" -v constant="$constant" -v slack="$slack" -v json="$json" 'BEGIN {
            verdict = slack == 0 ? "not judged" : off <= percent * slack ? "met" : "MISSED"
            if (json)
                printf "{\"bench\":\"stat\",\"name\":\"%s\",\"verdict\":\"%s\",\"inner\":%s,\"outer\":%s,\"constant\":%s," \
                    "\"ratio\":%.5f,\"off_percent\":%.3f,\"judge\":\"percent\",\"bar\":%g,\"slack\":%g}\n",
                    name, verdict, in_, out, constant, ratio, off, percent, slack
            else
                printf "%-44s %9s %9s %9s %8.4f %13s %8g%%  %-10s %s stat around it, less %s\n", name, in_, "", out, ratio, "",
                    percent, verdict, outer, constant
            exit verdict == "MISSED"
        }'
}

# compare WAY: the rows of one way round
compare()
{
    local inner=${1%_inside} missed=0
    collect true "$1" true
    collect work "$1" "${work[@]}"
    row "$inner" page-faults 1 0 || missed=1
    row "$inner" task-clock 2 0 || missed=1
    [ "$events" = "${events%context-switches}" ] || row "$inner" context-switches 10 10 || missed=1
    return $missed
}

status=0
if [ $json -eq 0 ] && [ $heading -eq 1 ]; then
    printf '%-44s %9s %9s %9s %8s %9s  %-10s %s\n' what inner '' outer ratio bar verdict against
fi
# Without permission to count kernel mode there are no switches: upmu reports that, perf prints 0.
"$upmu" stat --csv -o "$tmp/upmu" -e context-switches true || fail "upmu stat ended with $?"
if grep -q '^<not ' "$tmp/upmu"; then
    events=task-clock,page-faults
    skipped context-switches "the kernel does not let this user count them"
fi
for way in upmu_inside perf_inside; do
    # Other load disturbs few of the series of a short run.
    for ((i = 1; ; i++)); do
        if compare "$way"; then break; fi
        [ $i -lt $series ] || { status=1; break; }
    done
done
exit $status
