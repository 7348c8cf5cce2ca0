#!/usr/bin/env bash
# Writes the page with the costs of libupmu beside those of other tools: tables of peers.sh, with machine, versions and date.
#
#     bench/peers/page.sh PAGE BUILD [ARGUMENTS OF peers.sh]
#
# Tables of groups that are not among the arguments stay as the page has them: the groups can be measured one after the other, each on a
# calm machine. The page is replaced only if every installed tool ran. Exit status: that of peers.sh.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
page=${1:?usage: page.sh PAGE BUILD [ARGUMENTS]} build=${2:?usage: page.sh PAGE BUILD [ARGUMENTS]}
shift 2
tables=$(mktemp)
trap 'rm -f "$tables"' EXIT
bench/peers/peers.sh --build "$build" "$@" >"$tables"

# tables FILE...: each table once, from the first file that has it, in the order of a run of all
tables()
{
    awk -v order="$(bench/peers/peers.sh --build "$build" titles)" '
        FNR == 1 || /^## / { title = "" }
        /^### / { title = seen[$0]++ ? "" : $0 }
        title { text[title] = text[title] $0 "\n" }
        END {
            n = split(order, titles, "\n")
            for (i = 1; i <= n; i++)
                if ("### " titles[i] in text) { sub(/\n+$/, "", text["### " titles[i]]); print "\n" text["### " titles[i]] }
        }' "$@"
}

cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -1)
versions=''
for package in binutils lttng-tools liblttng-ust1 uftrace eztrace valgrind gcc-12 heaptrack linux-perf libpapi7.0 libpfm4 likwid; do
    version=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null) || continue
    versions="$versions${versions:+, }$package $version"
done

cat >"$page.new" <<END
# Beside other tools

Written by \`bench/run.sh --peers\`, which runs all of it again. Each row is the same program under one tool. A cell has the median CPU
time of one operation, and in brackets the ratio to the first row of the same round: median; least to greatest. The rounds
alternate between the tools, so that a change of the machine's speed affects both sides of a ratio.

| | |
| --- | --- |
| CPU | ${cpu:-$(uname -m)}, $(nproc) processors$(grep -q '^flags.*hypervisor' /proc/cpuinfo && echo ', virtual' || true) |
| Kernel | Linux $(uname -r | grep -oE '^[0-9]+\.[0-9]+') |
| libupmu | $("$build/tools/upmu/upmu" --version | head -1) |
| Tools | $versions |
$(tables "$tables" "$page")

## What the rows mean

- The tools record different things. gprofng omits waits below a threshold; LTTng's wrapper covers mutexes only; uftrace and
  eztrace record calls with their times, but no holder; drd, helgrind and ThreadSanitizer look for races and store nothing.
- Operations of the table of locks: an uncontended mutex pair beside a second thread; a short section that two threads want at once; a
  condition variable and a semaphore handed between two threads on one CPU; a task of some microseconds of a pool of
  four workers. *contended* depends on how the threads meet, and has the widest spread: a tool that delays both threads
  makes them collide less often, so that a ratio there may be below 1.
- CPU time is that of the program itself. heaptrack and perf have a process beside it, which is not in their rows; the table of commands has
  all processes.
- PAPI counts nothing on a CPU that is unknown to its libpfm4. There \`bench/peers/papi_shim.c\` lets libpfm4 name the kernel's generic
  PMU as the CPU's: software events then count, as in these rows, and hardware events stay unknown to it.
  \`PAPI_hl_region_begin()\` keeps a record of each pair; *upmu region* keeps count, sum, minimum, maximum and squares of each event.
- A tool that cannot be run on this machine has the reason in its row.
END
mv "$page.new" "$page"
