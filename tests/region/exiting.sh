#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a program leaves behind when it ends: nothing without a variable, the report where it was asked for, whatever the
# program did to its own output, and a word about each variable that was wrong.
set -euo pipefail
program=$1
part=$2
without_perf=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset UPMU_EVENTS UPMU_REPORT UPMU_OUTPUT UPMU_TRACE

fail()
{
    echo "FAILED: $*" >&2
    for f in stdout stderr; do
        [ ! -s "$work/$f" ] || { echo "--- $f"; head -40 "$work/$f"; } >&2
    done
    exit 1
}

skip()
{
    echo "skipped, because $*"
    exit 77
}

# run VAR=VALUE... WAY: the program under these variables; it ends well
run()
{
    local way=${*: -1}
    env "${@:1:$#-1}" "$program" "$way" >stdout 2>stderr || fail "$* ended with status $?"
}

# holds FILE PYTHON: the file is a JSON report and the expression holds over it (r) and its totals (total)
holds()
{
    python3 - "$1" "$2" <<'END' || fail "in the report $1: $2"
import json, sys
r = json.load(open(sys.argv[1]))
total = {row["region"]: row for row in r["regions"] if row["thread"] is None}
sys.exit(0 if eval(sys.argv[2]) else json.dumps(r, indent=1))
END
}

main='total["main, \"quoted\""]["count"] == 5'

case $part in
    handlers) # exit handlers, destructors of keys and of the program: all of them measured
        run UPMU_REPORT=json UPMU_OUTPUT=report handlers
        holds report "$main"
        for region in 'exit handler' 'key destructor' 'destructor' 'thread'; do
            holds report "total['$region']['count'] == 1"
        done
        holds report "total['never ended']['count'] == 0 and total['never ended']['open'] == 1"
        holds report 'r["health"]["end_without_begin"] == 0'
        ;;
    close) # standard output and error closed in an exit handler: the report is there all the same
        run UPMU_REPORT=json close
        cp stderr report
        holds report "$main"
        ;;
    reuse) # standard error's number belongs to a file of the program: nothing of ours goes there
        run UPMU_REPORT=json reuse
        [ ! -s data ] || fail "the report was written into the program's file"
        cp stderr report
        holds report "$main"
        ;;
    foreign) # counters whose descriptors the program closes: no value from then on (one instance here, one in a destructor), and a note
        for format in json text; do
            (ulimit -n 1024 && run UPMU_EVENTS=page-faults UPMU_REPORT=$format UPMU_OUTPUT=report.$format foreign)
        done
        event='total["main, \"quoted\""]["events"][0]'
        holds report.json "total['main, \"quoted\"']['count'] == 6"
        ! grep -q "^0 counters closed" stdout || skip "page faults are not counted by a perf event here"
        holds report.json "${event}['status'] == 'refused' and ${event}['without_value'] == 1 and ${event}['stat']['count'] == 5"
        holds report.json "any('2 of 7' in note and 'closed by the program' in note for note in r['notes'])"
        # What a reading without the counters costs is not what the instances cost.
        holds report.json 'r["health"]["begin_ns"] is None and r["health"]["end_ns"] is None'
        grep -q "^own cost of one instance: not measured" report.text || fail "a cost without the counters"
        grep -q "^note: page-faults: .*2 of 7.*closed by the program" report.text || fail "no note in the table"
        ;;
    few) # a limit of descriptors below the numbers the library likes
        (ulimit -n 64 && run UPMU_EVENTS=page-faults UPMU_REPORT=json few)
        cp stderr report
        holds report "$main"
        ;;
    output) # %p and %h, and a percent sign
        run UPMU_REPORT=json UPMU_OUTPUT='r-%h-%p-100%%.json' plain
        [ ! -s stderr ] || fail "not silent"
        file=$(echo r-*)
        python3 - "$file" <<'END' || fail "the report is called $file"
import json, socket, sys
r = json.load(open(sys.argv[1]))
assert sys.argv[1] == f"r-{socket.gethostname()}-{r['pid']}-100%.json", (sys.argv[1], r["host"], r["pid"])
END
        ;;
    unwritable) # the report falls back to standard error, with a reason
        run UPMU_REPORT=json UPMU_OUTPUT=/no/such/folder/report plain
        grep -q "cannot write the report to '/no/such/folder/report': No such file" < <(head -1 stderr) || fail "no reason"
        tail -n +2 stderr >report
        holds report "$main"
        if [ -e /dev/full ]; then
            run UPMU_REPORT=json UPMU_OUTPUT=/dev/full plain
            grep -q "cannot write the report to '/dev/full': No space" stderr || fail "no message about a full disk"
            grep -v 'cannot write the report' stderr >report
            holds report "$main"
        fi
        ;;
    wrong) # wrong values are noted and the rest is measured
        run UPMU_EVENTS=page-faults,cylces UPMU_REPORT=json UPMU_OUTPUT=report plain
        holds report "$main"
        holds report "any(\"did you mean 'cycles'?\" in note for note in r['notes'])"
        holds report "total['main, \"quoted\"']['events'][1]['status'] == 'unsupported'"
        holds report "total['main, \"quoted\"']['events'][1]['stat']['sum'] is None"
        run UPMU_REPORT=jsno UPMU_OUTPUT=report plain
        grep -q "did you mean 'json'" report || fail "no word about the format"
        grep -q "main, " report || fail "the table is lost with its format"
        run UPMU_REPORT=json UPMU_TRACE=/proc/no/trace UPMU_OUTPUT=report plain
        holds report "$main"
        holds report "r['trace'] is None and any('/proc/no/trace' in note for note in r['notes'])"
        many=$(printf 'page-faults,%.0s' $(seq 20))
        run UPMU_EVENTS="$many" UPMU_REPORT=json UPMU_OUTPUT=report plain
        holds report "len(total['main, \"quoted\"']['events']) == 16"
        holds report "any('4 events' in note for note in r['notes'])"
        ;;
    denied) # without perf events: times and switches are there, each event has a reason, none is 0
        for errno in EACCES EPERM ENOSYS; do
            events=UPMU_EVENTS=page-faults,context-switches,task-clock
            env $events UPMU_REPORT=json UPMU_OUTPUT=report "$without_perf" $errno -- "$program" plain >stdout 2>stderr ||
                fail "status $? under $errno"
            row='total["main, \"quoted\""]'
            holds report "$main and ${row}['wall_ns']['sum'] >= 500000"
            for i in 0 2; do
                holds report "${row}['events'][$i]['status'] in ('refused', 'unsupported')"
                holds report "${row}['events'][$i]['cause'] and ${row}['events'][$i]['stat']['sum'] is None"
                holds report "${row}['events'][$i]['without_value'] == 5"
            done
            holds report "${row}['events'][1]['status'] == 'exact' and ${row}['events'][1]['stat']['sum'] >= 5"
            holds report "sum('$errno' in note for note in r['notes']) >= 1"
            env $events "$without_perf" $errno -- "$program" plain >stdout 2>stderr || fail "status $? under $errno"
            grep -q "page-faults.*$errno" stderr || fail "no reason in the table"
        done
        ;;
    gone) # the reader of standard error is gone: the program ends as it always did, and not by SIGPIPE
        { env UPMU_EVENTS=page-faults UPMU_REPORT=json "$program" plain 2>&1 >stdout; echo $? >status; } | true
        [ "$(cat status)" = 0 ] || fail "ended with status $(cat status)"
        ;;
    limit) # a limit of file sizes: no SIGXFSZ; the report goes to standard error instead
        [ -z "${SANITIZED:-}" ] || skip "a sanitizer writes files of its own"
        sh -c 'ulimit -f 0; exec env UPMU_REPORT=json UPMU_OUTPUT=report "$0" plain 2>&1 >/dev/null' "$program" |
            cat >piped || fail "the program did not survive the limit"
        grep -q "cannot write the report to '.*/report': File too large" < <(head -1 piped) || fail "no reason: $(head -1 piped)"
        tail -n +2 piped >whole
        holds whole "$main"
        ;;
    moved) # a relative path is meant where the program was started
        run UPMU_REPORT=json UPMU_OUTPUT=report UPMU_TRACE=trace moved
        holds report "$main"
        [ -n "$(ls trace)" ] || fail "no trace where it was wanted"
        ;;
    running) # threads measure and record while the process ends
        times=15
        [ -z "${SANITIZED:-}" ] || times=5
        for _ in $(seq "$times"); do
            run UPMU_EVENTS=page-faults,context-switches UPMU_REPORT=json UPMU_OUTPUT=report UPMU_TRACE=trace running
            [ ! -s stderr ] || fail "not silent"
            holds report "$main"
            holds report "total['running']['count'] > 0"
            rm -rf trace report
        done
        ;;
    comma) # a locale with a decimal comma leaves the formats for programs as they are
        command -v localedef >/dev/null || skip "localedef is not installed"
        mkdir locale
        for name in de_DE fr_FR pl_PL; do
            localedef --no-archive -i "$name" -f UTF-8 "locale/$name.UTF-8" 2>/dev/null && break
        done
        [ -d "locale/$name.UTF-8" ] || skip "no locale with a decimal comma can be made (package locales)"
        run LOCPATH="$work/locale" LC_ALL="$name.UTF-8" UPMU_REPORT=json UPMU_OUTPUT=report comma
        holds report "$main"
        holds report "isinstance(r['seconds'], float) and total['main, \"quoted\"']['wall_ns']['sum_squares'] > 0"
        run LOCPATH="$work/locale" LC_ALL="$name.UTF-8" UPMU_REPORT=csv UPMU_OUTPUT=report.csv comma
        python3 - report.csv <<'END' || fail "the CSV is damaged"
import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline="")))
assert len(rows) > 3 and all(len(row) == len(rows[0]) for row in rows), rows
wall = [dict(zip(rows[0], row)) for row in rows[1:] if row[3] == "wall"]
assert wall[0]["region"] == 'main, "quoted"' and int(wall[0]["count"]) == 5, wall
assert float(wall[0]["sum_squares"]) > 0 and int(wall[0]["sum"]) > 0, wall
END
        ;;
    silent) # no variable: no output, no file, no descriptor, no event
        run plain
        [ ! -s stdout ] || fail "not silent"
        [ ! -s stderr ] || fail "not silent"
        [ "$(ls)" = "$(printf 'stderr\nstdout')" ] || fail "files: $(ls)"
        command -v strace >/dev/null || skip "strace is not installed; output and files were looked at"
        [ -z "${SANITIZED:-}" ] || skip "a sanitizer does not run under strace; output and files were looked at"
        strace -f -o calls "$program" plain >stdout 2>stderr || skip "strace may not trace here; output and files were looked at"
        ! grep -E 'perf_event_open|O_WRONLY|O_RDWR|O_CREAT|MADV_WIPEONFORK|F_DUPFD' calls || fail "not without a trace"
        run UPMU_EVENTS= UPMU_REPORT= plain # empty counts as not set
        [ ! -s stderr ] || fail "an empty variable switches regions on"
        strace -f -o calls env UPMU_EVENTS=page-faults "$program" plain >stdout 2>stderr
        grep -q perf_event_open calls || fail "strace would not have seen it"
        ;;
    *)
        fail "no such part: $part"
        ;;
esac
