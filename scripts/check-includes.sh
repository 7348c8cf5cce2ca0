#!/usr/bin/env bash
# Checks each include against lib/modules.txt, the length of files, the number of files in a folder, and that each folder of
# lib/ and tools/ with more than three files has a README.md. Prints one line per violation, as FILE:LINE: what is wrong.
#
#     scripts/check-includes.sh [ROOT]     ROOT: the tree to check, by default the one this script is in
#     scripts/check-includes.sh --table    the modules as a Markdown table
#     scripts/check-includes.sh --write    puts that table into docs/architecture.md
#
# Exit status: 0 no violation, 1 violations, 2 nothing to check.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
max_lines=800
max_files=30
max_files_alone=3 # without a README.md

# The first sentence of a module's README.md, which begins with a "# lib/..." heading and an empty line.
summary()
{
    sed -n '3,/^$/p' "$1/README.md" | tr '\n' ' ' | sed -E 's/\. .*/./; s/ *$//'
}

table()
{
    local module words
    echo '| Folder | Contents | May include |'
    echo '| --- | --- | --- |'
    sed '/^#/d; /^$/d; /^tools/d; /^outside/d; /^include/d' lib/modules.txt | while read -r module words; do
        words=${words//upmu\//include/upmu}
        words=${words//inspect:/}
        words=${words//futex:/}
        words=${words//libpfm4:/}
        echo "| \`lib/$module/\` | $(summary "lib/$module") | \`${words// /\`, \`}\` |"
    done
}

case ${1:-} in
--table)
    cd "$root"
    table
    exit
    ;;
--write)
    cd "$root"
    page=$(sed '/^<!-- modules/q' docs/architecture.md && table && sed -n '/^<!-- end -->/,$p' docs/architecture.md)
    printf '%s\n' "$page" >docs/architecture.md
    exit
    ;;
*) cd "${1:-$root}" || exit 2 ;;
esac
files=()
while IFS= read -r file; do
    files+=("$file")
done < <(find include lib tools examples bindings integrations bench tests -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.h.in' \) 2>/dev/null | LC_ALL=C sort)
if [ ${#files[@]} -eq 0 ]; then
    echo "check-includes: no source files under $root" >&2
    exit 2
fi

# Headers of the system that only the rows above may open up.
guarded='linux/ asm/ asm-generic/ sys/syscall.h'

bad=0
while read -r count folder; do
    if [ "$count" -gt "$max_files" ]; then
        echo "$folder:1: $count source files, more than $max_files: split the folder by subject"
        bad=1
    fi
    if [ "$count" -gt "$max_files_alone" ] && [[ $folder =~ ^(lib|tools)/ ]] && [ ! -f "$folder/README.md" ]; then
        echo "$folder:1: $count source files and no README.md: what is the folder for, and what may not be in it?"
        bad=1
    fi
done < <(printf '%s\n' "${files[@]}" | sed 's,/[^/]*$,,' | LC_ALL=C sort | uniq -c)

if [ -f docs/architecture.md ] && [ -d lib/base ] && [ -f lib/base/README.md ] &&
    ! diff <(table) <(sed '/^<!-- modules/,/^<!-- end -->/!d; /^<!--/d' docs/architecture.md) >/dev/null; then
    echo "docs/architecture.md:1: its table of modules is not that of lib/modules.txt: scripts/check-includes.sh --write"
    bad=1
fi

awk -v guarded="$guarded" -v max_lines="$max_lines" '
# The module of a file: the longest folder that has a row.
function module_of(path,    part, folder) {
    split(path, part, "/")
    if (part[1] == "tests" || part[1] == "bench") return "free"
    if (part[1] == "include") return "include"
    if (part[1] == "tools") return "tools"
    if (part[1] != "lib") return "outside"
    for (folder = path; sub(/\/[^\/]*$/, "", folder);)
        if (substr(folder, 5) in row) return substr(folder, 5)
    return ""
}
function begins(text, with) { return substr(text, 1, length(with)) == with }
function complain(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; bad = 1 }

# Whether the words of the row of `module` allow `header`.
function allowed(module, header,    n, i, word, at) {
    n = split(row[module], word, " ")
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
        opened = allowed(module, "<" header ">") || allowed(module, "<" word[i] ">")
        if (!opened) complain("module " module " must not include <" header ">")
        return
    }
}
function check_ours(header,    part) {
    if (header !~ /\//) {
        if (module == "include") complain("a public header includes only \"upmu/...\" and the C library, not \"" header "\"")
        return # a file of the same folder
    }
    split(header, part, "/")
    if (module == "include" && part[1] == "upmu") return
    # Vendors do not include each other; what they share is one folder up.
    if (module == "arch" && part[1] == "arch") {
        if (part[3] != "" && vendor != "" && part[2] != vendor)
            complain("lib/arch/" vendor " must not include \"" header "\" of another vendor")
        return
    }
    if (begins(header, module "/") || allowed(module, header)) return
    if (begins(FILENAME, "tools/upmu/") && header in of_command) return
    complain("module " module " must not include \"" header "\"")
}

BEGIN {
    for (i = 1; i < ARGC; i++)
        if (begins(ARGV[i], "tools/upmu/")) of_command[substr(ARGV[i], 12)]
}
FILENAME == "lib/modules.txt" {
    if (/^[^#]/) { name = $1; $1 = ""; row[name] = $0 }
    next
}
FNR == 1 {
    module = module_of(FILENAME)
    base_name = FILENAME; sub(/.*\//, "", base_name)
    vendor = ""
    if (module == "arch" && split(FILENAME, part, "/") > 3) vendor = part[3]
    if (module == "") complain("the folder has no row in lib/modules.txt: add one")
}
FNR == max_lines + 1 { complain("more than " max_lines " lines: split it by what it does") }
module != "" && module != "free" && match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]+[>"]/) {
    header = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", header)
    quote = substr(header, 1, 1)
    header = substr(header, 2); sub(/[>"].*/, "", header)
    if (quote == "<") check_system(header); else check_ours(header)
}
END { exit bad }
' lib/modules.txt "${files[@]}" || bad=1
[ $bad -eq 0 ] || exit 1
echo "check-includes: ${#files[@]} files, every include is allowed by lib/modules.txt"
