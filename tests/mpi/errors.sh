#!/usr/bin/env bash
# Calls that fail, or are left by an exception or longjmp(): each is recorded once, with its result, and the thread's locks are recorded after it.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

"mpicc.$mpi" -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -g -O1 -w -pthread -o subject "$here/programs/errors.cpp" -lstdc++
"$upmu" record --mpi -o r -- ./subject >out 2>err || fail "status $?: $(cat err)" # as the only rank, without a launcher
"$upmu" dump r >dump

# The rank's calls, with how each ended, and its waits between them.
awk '/ mpi-enter .* call=MPI_Init / { thread = $3 }
    !thread || $3 != thread { next }
    { name = result = "" }
    { for (i = 4; i <= NF; i++) { if ($i ~ /^call=MPI_/) name = substr($i, 10); if ($i ~ /^result=/) result = substr($i, 8) } }
    $4 == "mpi-enter" { entered = name }
    $4 == "mpi-leave" && name != entered { print "no begin of", name }
    $4 == "mpi-leave" || $4 == "mpi-call" || $4 == "mpi-done" {
        print name, (result + 0 == 0 ? "succeeded" : result + 0 > 0 ? "failed" : "left")
    }
    $4 == "cond-wait" && initialized { print "waited" }
    $4 == "mpi-leave" && name == "Init" { initialized = 1 }
    $4 == "mpi-enter" && name == "Finalize" { exit }' dump >found
{
    echo "Init succeeded"
    for _ in returned handled; do
        printf '%s\n' "Send failed" waited "Isend failed" waited "Isend succeeded" "Recv failed" waited "Wait succeeded"
    done
    printf '%s\n' "Send left" waited "Send left" waited "Send left" waited
    for call in Send Ssend Isend Send; do
        printf '%s\n' "$call left" waited "Isend succeeded" "Recv succeeded" "Wait succeeded"
    done
    printf '%s\n' "Send failed" "Ssend failed" "Isend failed" waited
} >expected
# Calls that set the handlers are only counted, if at all.
is "calls and waits" "$(cat expected)" "$(grep -E '^(Init|Send|Ssend|Isend|Recv|Wait|Barrier|no begin) |^waited' found)"
for call in Send:8 Ssend:2 Isend:10 Recv:6 Wait:6 Barrier:0; do
    is "begins of MPI_${call%:*}" "${call#*:}" "$(grep -cE " mpi-(enter|call) .* call=MPI_${call%:*} " dump || true)"
done
