# SPDX-License-Identifier: MIT
# Regions that are open at the end of their thread are counted, also where the thread's life is a region (-e), and only once.
. "$(dirname "$0")/lib.sh"
unset UPMU_REGION_THREADS

# counts_them WORDS...: what the program prints, and the note of its report.
counts_them() {
    expect 0 env UPMU_REPORT=text UPMU_OUTPUT="$work/report" "$@"
    has out "never ended 2, closed 0"
    grep -q '2 region(s) still open when their thread ended' report || fail "'$*': no note: $(cat report)"
    rm -f report
}
counts_them env UPMU_EVENTS=page-faults "$LEFT_OPEN"
counts_them env UPMU_EVENTS=page-faults UPMU_REGION_THREADS=1 "$LEFT_OPEN"
counts_them "$UPMU" record -e page-faults -o with "$LEFT_OPEN"
counts_them "$UPMU" record -o without "$LEFT_OPEN"
finish
