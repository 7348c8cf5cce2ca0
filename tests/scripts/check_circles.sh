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

mkdir -p "$fake/scripts"
cp "$check" "$fake/scripts/check-circles.sh"
fake_check=$fake/scripts/check-circles.sh

# object FOLDER FILE CODE: lib/FOLDER/FILE.c, and its object where a build would put it
object()
{
    mkdir -p "$fake/lib/$1" "$fake/build/lib/$1/CMakeFiles/upmu_module_x.dir"
    echo "$3" >"$fake/lib/$1/$2.c"
    "$cc" -c -o "$fake/build/lib/$1/CMakeFiles/upmu_module_x.dir/$2.c.o" "$fake/lib/$1/$2.c"
}

# header FOLDER FILE LINE...
header()
{
    local file=$fake/lib/$1/$2.h
    shift 2
    printf '%s\n' "$@" >"$file"
}

# clock.h has functions of two sources: error.c may include it though clock.c calls error.c.
object base error 'int low(void) { return 1; }'
object base clock 'int low(void); int middle(void) { return low(); }'
object base json 'int middle(void); int high(void) { return middle(); }'
object trace/read reader 'int high(void); int low(void) { return high(); }' # another folder
header trace/read reader '#include "base/json.h"'
header base json '#include "base/clock.h"' 'int high(void);'
header base clock 'int low(void); int middle(void);'
echo '#include "base/clock.h"' >>"$fake/lib/base/error.c"
"$fake_check" "$fake/build" || fail "calls in one direction were refused"

# expect_circle FILES...
expect_circle()
{
    local out
    if out=$("$fake_check" "$fake/build"); then
        fail "a circle was accepted: $*"
    fi
    [ "$out" = "circle: $*" ] || fail "not the files of the circle: $out"
}

# The structs and inline functions of a header leave no trace in an object.
header base error '#include "base/json.h"' 'int low(void);'
header base clock 'int middle(void);'
expect_circle base clock error json
header base error 'int low(void);'
object base error 'int high(void); int low(void) { return high(); }'
object base map 'int low(void); int beside(void) { return low(); }'
expect_circle base clock error json

status=0
"$check" "$fake/nothing" 2>/dev/null || status=$?
[ $status -eq 2 ] || fail "a folder without objects gave status $status, not 2"

"$check" "$build" || fail "these files of the library need each other: cut one direction"
echo "check-circles finds a circle, and this build has none"
