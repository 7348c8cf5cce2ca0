#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints each circle of files in one folder: a needs b, and b, directly or through others, a. A file needs another one if it
# calls a function of its, or includes its header, with whose structs and inline functions it works. A header whose functions
# are all of the source of its name is one with it; one that several sources share is a file of its own.
#
#   scripts/check-circles.sh [BUILD]    a build folder with objects, by default build/release
#
# Objects of one folder of lib/ are compared with each other. LTO builds have no usable symbols in their objects.
# Exit status: 0 no circle, 1 circles, 2 wrong use.
set -eu
LC_ALL=C
export LC_ALL

root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build/release}
[ -d "$build/lib" ] || { echo "check-circles: no objects below '$build/lib': build first" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# One object per source, as "FOLDER FILE OBJECT"; several targets may compile the same source.
find "$build/lib" -name '*.c.o' | sed -nE 's#^(.*/lib/(.*)/CMakeFiles/[^/]*\.dir/(.*)\.c\.o)$#\2/\3 \1#p' |
    sort -u -k1,1 >"$work/objects"
# One call of nm for all of them: as many as there are objects take a hundred times as long.
while read -r name object; do
    [ ! -e "$root/lib/$name.c" ] || echo "$name $object" # others are left by an older build, or generated
done <"$work/objects" >"$work/of_source"
cut -d ' ' -f 2 "$work/of_source" | xargs -r nm -A | awk '
    FNR == NR { name[$2] = $1; next }
    {
        object = $1; sub(/:[^:]*$/, "", object)
        if ($2 == "U") print name[object], "U", $3
        else if ($2 ~ /^[A-Zuvw]$/ && $1 !~ /:$/) print name[object], "D", $3 # it has an address
    }' "$work/of_source" - >"$work/symbols"
awk '
    function folder(f) { sub(/\/[^\/]*$/, "", f); return f }
    function base(f) { sub(/.*\//, "", f); return f }
    FNR == NR { if ($2 == "D") where[folder($1) SUBSEP $3] = $1; next }
    $2 == "U" {
        to = where[folder($1) SUBSEP $3]
        if (to != "" && to != $1)
            print folder($1), base($1), base(to)
    }
' "$work/symbols" "$work/symbols" >"$work/edges"
# Headers that belong to a source, as "FOLDER/NAME".
(cd "$root/lib" && find . -name '*.h' -exec grep -oHE '[a-z_0-9]+\(' {} +) | sed 's,^\./,,; s,($,,' |
    awk -F '[ :]' '
        FNR == NR { if ($2 == "D") where[$3] = where[$3] " " $1; next }
        {
            header = $1; sub(/\.h$/, "", header)
            folder = header; sub(/\/[^\/]*$/, "", folder)
            n = split(where[$2], of, " ")
            for (i = 1; i <= n; i++)
                if (index(of[i], folder "/") == 1) {
                    if (of[i] == header) own[header]; else shared[header]
                }
        }
        END { for (header in own) if (!(header in shared)) print header }
    ' "$work/symbols" - >"$work/own"
(cd "$root/lib" && find . -name '*.[ch]' -exec grep -H '^#include "' {} +) |
    sed -nE 's,^\./(.*)/([^/]*\.[ch]):#include "\1/([^/"]*\.h)".*,\1 \2 \3,p' |
    awk '
        function unit(folder, file,    name) {
            name = file; sub(/\.[ch]$/, "", name)
            return file ~ /\.c$/ || folder "/" name in own ? name : file
        }
        FNR == NR { own[$1]; next }
        { from = unit($1, $2); to = unit($1, $3); if (from != to) print $1, from, to }
    ' "$work/own" - >>"$work/edges"
sort -u -o "$work/edges" "$work/edges"
# A file is on a circle if it reaches itself; files that reach each other are one circle.
awk '
    { from = $1 "/" $2; to = $1 "/" $3; next_of[from] = next_of[from] " " to; nodes[from]; nodes[to] }
    function reach(start, node,    part, n, i) {
        n = split(next_of[node], part, " ")
        for (i = 1; i <= n; i++)
            if (!((start, part[i]) in reached)) {
                reached[start, part[i]]
                reach(start, part[i])
            }
    }
    END {
        for (node in nodes) {
            reach(node, node)
            order[++n] = node
        }
        for (i = 2; i <= n; i++)
            for (k = i; k > 1 && order[k] < order[k - 1]; k--) { t = order[k]; order[k] = order[k - 1]; order[k - 1] = t }
        for (i = 1; i <= n; i++) {
            if (!((order[i], order[i]) in reached) || order[i] in done)
                continue
            circle = order[i]
            sub(/\/[^\/]*$/, "", circle)
            for (k = i; k <= n; k++)
                if ((order[i], order[k]) in reached && (order[k], order[i]) in reached) {
                    name = order[k]
                    sub(/.*\//, "", name)
                    circle = circle " " name
                    done[order[k]]
                }
            print "circle: " circle
            status = 1
        }
        exit status
    }
' "$work/edges"
