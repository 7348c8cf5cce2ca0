#!/usr/bin/env bash
# scripts/check-circles.sh prints files that need each other, through others or not, and this build has none.
set -euo pipefail

check=$1 cc=$2 build=$3
fake=$(mktemp -d)
trap 'rm -rf "$fake"' EXIT

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

# object FOLDER FILE CODE: an object where the build would put that of lib/FOLDER/FILE.c
object()
{
    mkdir -p "$fake/lib/$1/CMakeFiles/upmu_module_x.dir"
    "$cc" -c -x c -o "$fake/lib/$1/CMakeFiles/upmu_module_x.dir/$2.c.o" - <<<"$3"
}

object base error 'int low(void) { return 1; }'
object base clock 'int low(void); int middle(void) { return low(); }'
object base json 'int middle(void); int high(void) { return middle(); }'
object trace/read reader 'int high(void); int low(void) { return high(); }' # another folder
"$check" "$fake" || fail "calls in one direction were refused"

object base error 'int high(void); int low(void) { return high(); }'
object base map 'int low(void); int beside(void) { return low(); }'
if out=$("$check" "$fake"); then
    fail "a circle was accepted"
fi
[ "$out" = 'circle: base clock error json' ] || fail "not the files of the circle: $out"

status=0
"$check" "$fake/nothing" 2>/dev/null || status=$?
[ $status -eq 2 ] || fail "a folder without objects gave status $status, not 2"

"$check" "$build" || fail "these files of the library need each other: cut one direction"
echo "check-circles finds a circle, and this build has none"
