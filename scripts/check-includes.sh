#!/usr/bin/env bash
# Checks that the arrows between the rooms point the right way (docs/architecture.md), and that no file outgrows its
# reader. Prints one line per violation, as FILE:LINE: what is wrong.
#
#     scripts/check-includes.sh [ROOT]     ROOT: the tree to check, by default the one this script is in
#
# Exit status: 0 all arrows are right, 1 there are violations, 2 nothing to check.
set -euo pipefail

root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
max_lines=800

cd "$root" || exit 2
files=()
while IFS= read -r file; do
    files+=("$file")
done < <(find include lib tools examples bindings integrations bench tests -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.h.in' \) 2>/dev/null | LC_ALL=C sort)
if [ ${#files[@]} -eq 0 ]; then
    echo "check-includes: no source files under $root" >&2
    exit 2
fi

# A row: room, then what it may include besides its own folder and the C library. A word ending in "/" is a folder of
# the include path, any other one header. "region:" limits a header to those files of the room whose name begins so:
# core's regions alone write traces, and libpfm4 alone speaks in the kernel's own struct.
rooms='
include
base      upmu/                                             <linux/futex.h> <sys/syscall.h>
arch      upmu/ base/ core/arch_ops.h core/registry.h       libpfm4:<linux/perf_event.h>
kernel    upmu/ base/ core/kernel_ops.h core/arch_ops.h     <linux/> <sys/syscall.h>
trace     upmu/ base/                                       <sys/syscall.h>
core      upmu/ base/ region:trace/writer.h
sync_trace upmu/ base/ core/recorder.h trace/live.h trace/writer.h trace/stream_fast.h trace/control.h <sys/syscall.h> futex:<linux/futex.h>
waitgraph base/
analysis  upmu/ base/ waitgraph/ trace/control.h trace/live.h trace/bare.h  look:<sys/syscall.h> look:<linux/futex.h>
export    upmu/ base/ analysis/public.h analysis/timeline.h analysis/overview.h analysis/map.h
outside   upmu/ base/printable.h                            <sys/syscall.h>
'
# Headers of the system that only the rows above may open up.
guarded='linux/ asm/ asm-generic/ sys/syscall.h'

awk -v rooms="$rooms" -v guarded="$guarded" -v max_lines="$max_lines" '
function room_of(path,    part) {
    split(path, part, "/")
    if (part[1] == "tests" || part[1] == "bench") return "free"
    if (part[1] == "include") return "include"
    return part[1] == "lib" ? part[2] : "outside"
}
function begins(text, with) { return substr(text, 1, length(with)) == with }
function complain(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; bad = 1 }

# Whether the words of the row of `room` allow `header`.
function allowed(room, header,    n, i, word, at) {
    n = split(row[room], word, " ")
    for (i = 1; i <= n; i++) {
        at = index(word[i], ":")
        if (at && begins(base_name, substr(word[i], 1, at - 1))) word[i] = substr(word[i], at + 1)
        if (word[i] == header || (word[i] ~ /\/$/ && begins(header, word[i]))) return 1
    }
    return 0
}
function check_system(header,    n, i, word, opened) {
    if (begins(header, "upmu/")) return check_ours(header)
    n = split(guarded, word, " ")
    for (i = 1; i <= n; i++) {
        if (!begins(header, word[i])) continue
        opened = allowed(room, "<" header ">") || allowed(room, "<" word[i] ">")
        if (!opened) complain("room " room " must not include <" header ">")
        return
    }
}
function check_ours(header,    part) {
    if (header !~ /\//) {
        if (room == "include") complain("a public header includes only \"upmu/...\" and the C library, not \"" header "\"")
        return # a neighbour in the same folder
    }
    split(header, part, "/")
    if (room == "include" && part[1] == "upmu") return
    # Vendors do not know each other; what they share stands one folder up.
    if (room == "arch" && part[1] == "arch") {
        if (part[3] != "" && vendor != "" && part[2] != vendor)
            complain("lib/arch/" vendor " must not include \"" header "\" of another vendor")
        return
    }
    if (part[1] == room || allowed(room, header)) return
    complain("room " room " must not include \"" header "\"")
}

BEGIN {
    n = split(rooms, line, "\n")
    for (i = 1; i <= n; i++) {
        split(line[i], word, " ")
        name = word[1]
        if (name == "") continue
        sub(/^[a-z]+ */, "", line[i])
        row[name] = line[i]
    }
}
FNR == 1 {
    room = room_of(FILENAME)
    base_name = FILENAME; sub(/.*\//, "", base_name)
    vendor = ""
    if (room == "arch" && split(FILENAME, part, "/") > 3) vendor = part[3]
    if (room != "free" && !(room in row)) complain("lib/" room " is no room of scripts/check-includes.sh: add its row")
}
FNR == max_lines + 1 { complain("more than " max_lines " lines: split it by what it does") }
room != "free" && match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]+[>"]/) {
    header = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", header)
    quote = substr(header, 1, 1)
    header = substr(header, 2); sub(/[>"].*/, "", header)
    if (quote == "<") check_system(header); else check_ours(header)
}
END { exit bad }
' "${files[@]}" || exit 1
echo "check-includes: ${#files[@]} files, all arrows point the right way"
