# SPDX-License-Identifier: MIT
# Calls of PAPI and LIKWID that the compatibility headers do not have are compile errors that name ours.
# Environment: CC, CXX, FLAGS.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
refused() { # HEADER CALL OURS
    printf '#define LIKWID_PERFMON\n#include <upmu/compat/%s>\nint main(void) { %s; return 0; }\n' "$1" "$2" >"$scratch/call.c"
    cp "$scratch/call.c" "$scratch/call.cpp"
    local compile
    for compile in "$CC -std=c11 $scratch/call.c" "$CXX -std=c++17 $scratch/call.cpp"; do
        # shellcheck disable=SC2086
        ! $compile $FLAGS -c -o "$scratch/call.o" 2>"$scratch/err" || { echo "FAILED: $2 compiles"; exit 1; }
        grep -qF -e "$3" "$scratch/err" || { echo "FAILED: $2: no '$3'"; cat "$scratch/err"; exit 1; }
    done
}
refused papi_hl.h 'PAPI_library_init(0)' 'none needed'
refused papi_hl.h 'PAPI_add_event(1, PAPI_TOT_CYC)' 'upmu_set_open()'
refused papi_hl.h 'PAPI_hl_read("x")' 'upmu_region_stats_read()'
refused likwid-marker.h 'LIKWID_MARKER_SWITCH' 'UPMU_EVENTS'
refused likwid-marker.h 'LIKWID_MARKER_RESET("x")' 'upmu_region_stats_read()'
printf '#define PAPI_VER_CURRENT 1\n#include <upmu/compat/papi_hl.h>\n' >"$scratch/both.c"
# shellcheck disable=SC2086
! "$CC" $FLAGS -fsyntax-only "$scratch/both.c" 2>"$scratch/err" && grep -qF 'exclude each other' "$scratch/err"
