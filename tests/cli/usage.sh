# SPDX-License-Identifier: MIT
# The command line: help, version, and errors of invalid arguments.
. "$(dirname "$0")/lib.sh"
commands="list explain plan doctor gather stat record ctl report dump repair help"

expect 2 "$UPMU"
has err "upmu help"
expect 0 "$UPMU" --version
[[ $(cat "$work/out") =~ ^upmu\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "version is '$(cat "$work/out")'"

expect 0 "$UPMU" --help
cp "$work/out" "$work/overview"
expect 0 "$UPMU" help
cmp -s "$work/out" "$work/overview" || fail "'upmu help' and 'upmu --help' differ"
for c in $commands; do
    grep -q "^  $c " "$work/overview" || fail "the overview does not name $c"
    expect 0 "$UPMU" "$c" --help
    empty err
    has out "Usage: upmu $c"
    has out "Exit status:"
    cp "$work/out" "$work/long"
    expect 0 "$UPMU" help "$c"
    cmp -s "$work/out" "$work/long" || fail "'upmu help $c' and 'upmu $c --help' differ"
    expect 2 "$UPMU" "$c" --no-such-option
    has err "unknown option --no-such-option"
    empty out
done

expect 2 "$UPMU" stta
has err "did you mean 'stat'?"
expect 2 "$UPMU" doc
has err "did you mean 'doctor'?"
expect 2 "$UPMU" xyzzyxyzzy
has_not err "did you mean"
expect 2 "$UPMU" help stta
has err "did you mean 'stat'?"
expect 2 "$UPMU" list --jsno
has err "did you mean --json?"
expect 2 "$UPMU" stat --evnt=cycles true
has err "did you mean --event?"
expect 2 "$UPMU" list -Z
has err "unknown option -Z"
expect 2 "$UPMU" --vresion

# Long options are not abbreviated, and take arguments only if they have one.
expect 2 "$UPMU" list --js
expect 2 "$UPMU" list --json=yes
has err "takes no argument"
expect 2 "$UPMU" stat --event
has err "--event needs EVENTS"
expect 2 "$UPMU" stat -e
for command in "stat -e , true" "record -e , true" "top -e ,"; do
    # shellcheck disable=SC2086
    expect 2 "$UPMU" $command
    has err "-e needs the name of an event"
done
expect 2 "$UPMU" report --top 99999999999 .
has err "--top needs a number from 1 to 1000000000"
expect 2 "$UPMU" list a b
expect 2 "$UPMU" list --json --csv
expect 2 "$UPMU" doctor now
expect 2 "$UPMU" dump
expect 2 "$UPMU" repair
expect 2 "$UPMU" repair a b

# stat counts one thing, in numbers that are numbers.
expect 2 "$UPMU" stat
has err "nothing to count"
expect 2 "$UPMU" stat -p 1 --for 1 true
expect 2 "$UPMU" stat -p 1 -t 1
expect 2 "$UPMU" stat -a -p 1
expect 2 "$UPMU" stat --per-thread true
expect 2 "$UPMU" stat --per-thread -a
expect 2 "$UPMU" stat -A -p 1
expect 2 "$UPMU" stat -x "" true
expect 2 "$UPMU" stat -x ab true
expect 2 "$UPMU" stat --append true
expect 2 "$UPMU" stat -I 100 -r 2 true
expect 2 "$UPMU" stat -I 0 true
expect 2 "$UPMU" stat --interval-count 2 -p 1
expect 2 "$UPMU" stat -p 1,
expect 2 "$UPMU" stat -t 0
expect 2 "$UPMU" stat -C 3-1 --for 1
expect 2 "$UPMU" stat -p 1 -C 0
for bad in 0 -1 1x 0x10 "" 99999999999999999999; do
    expect 2 "$UPMU" stat -p "$bad"
    expect 2 "$UPMU" stat -r "$bad" true
done
for bad in 0 -1 nan inf 1e3 1s "" .; do
    expect 2 "$UPMU" stat -p 1 --for "$bad"
done
expect 2 "$UPMU" stat --for 1 true
expect 2 "$UPMU" stat -r 2 -p 1
expect 2 "$UPMU" stat --json --csv true

# Options after the program's name belong to the program; -- ends ours; arguments come in three spellings.
expect 0 "$UPMU" stat -e task-clock echo --json -p
has out "--json -p"
expect 0 "$UPMU" stat -etask-clock -- echo one
has out one
expect 0 "$UPMU" stat --event=task-clock -co "$work/csv" echo two
[ "$(wc -l <"$work/csv")" -eq 1 ] || fail "clustered options -co"
finish
