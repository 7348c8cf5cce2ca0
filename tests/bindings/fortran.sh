# SPDX-License-Identifier: MIT
# The Fortran module as a user has it: its source and the installed libraries, compiled by gfortran without a warning.
# Environment: MODULE_DIR (bindings/fortran), HERE, DIR, LIB (shared libraries).
set -euo pipefail
compiler=${FC:-gfortran}
command -v "$compiler" >/dev/null || { echo "skipped, because $compiler is not installed (Debian: gfortran)"; exit 77; }
rm -rf "$DIR"
mkdir -p "$DIR"
cd "$DIR"
strict=(-std=f2008 -Wall -Wextra -pedantic -Werror -O2)
"$compiler" "${strict[@]}" -c "$MODULE_DIR/upmu.f90"
build() { "$compiler" "${strict[@]}" -Wno-function-elimination "$1" upmu.o -o "$2" -L"$LIB" -lupmu_sync -lupmu -Wl,-rpath,"$LIB"; }
build "$HERE/fortran.f90" procedures
build "$MODULE_DIR/example.f90" example
./procedures "$DIR/trace" >out || { cat out; exit 1; }
grep -q '^outer ' out # the report, on the descriptor given
[ -n "$(find trace -name 'stream*')" ] || { echo "FAILED: nothing is recorded"; exit 1; }
# Constants are those of the C headers.
sed -n '/parameter, public ::/,/[^&]$/p' "$MODULE_DIR/upmu.f90" | grep -oE 'UPMU_[A-Z_]+ = -?[0-9]+' | sed 's/_c_int64_t//' >constants
[ "$(wc -l <constants)" -ge 20 ] || { echo "FAILED: only $(wc -l <constants) constants found"; exit 1; }
{
    printf '#include <upmu/%s.h>\n' region sync upmu
    grep -v 'UPMU_OK\|UPMU_NO_VALUE' constants | sed 's/\(.*\) = \(.*\)/_Static_assert(\1 == \2, "\1");/'
} >constants.c
# shellcheck disable=SC2086
"${CC:-cc}" -fsyntax-only $FLAGS constants.c
# Each public name is used by the test; constants of codes and modes stand for each other.
unused=$(sed -n 's/^ *public :: //p' "$MODULE_DIR/upmu.f90" | tr -d ' ' | tr ',' '\n' | while read -r name; do
    grep -qw "$name" "$HERE/fortran.f90" || echo "$name"
done)
[ "$(xargs <<<"$unused")" = upmu_stat ] || { echo "FAILED: no test of $unused"; exit 1; } # a type of a component
UPMU_REPORT=text ./example >out 2>report
grep -q '^task-clock [0-9]* (exact)$' out
grep -q '^sum up ' report
# In a shared library of the program, too, the switch is libupmu's.
"$compiler" -shared -fPIC "$MODULE_DIR/upmu.f90" -o libfortran_upmu.so
"$compiler" "$MODULE_DIR/example.f90" -o shared -L. -lfortran_upmu -L"$LIB" -lupmu_sync -lupmu -Wl,-rpath,"$LIB" -Wl,-rpath,"$DIR"
grep -q '^fill ' < <(UPMU_REPORT=text ./shared 2>&1 >/dev/null)
echo "fine"
