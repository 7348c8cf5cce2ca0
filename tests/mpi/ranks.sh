#!/usr/bin/env bash
# `mpirun ... upmu record --mpi`: the ranks share a directory, which is theirs alone, and report once.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

mpicc.$mpi -g -O1 -w -o subject "$here/programs/subject.c"
run 2 "$upmu" record --mpi -o shared -- ./subject calls >out 2>err || { cat err >&2; fail "status $?"; }
is "summaries" 1 "$(grep -c 'upmu: .* records of 2 processes' err)"
is "ranks" "0 1" "$("$upmu" dump shared | sed -nE 's/.* mpi-env .* rank=([0-9]+) size=2 .*wrapped=1.*/\1/p' | sort | xargs)"
is "jobs" 1 "$("$upmu" dump shared | sed -nE 's/.* mpi-env .* job=(0x[0-9a-f]+) .*/\1/p' | sort -u | wc -l)"

# Without -o there is one directory for the job, too.
run 2 "$upmu" record --mpi -- ./subject late >out 2>err || { cat err >&2; fail "status $?"; }
is "directories" 1 "$(find . -maxdepth 1 -name 'upmu-record-subject-*' | wc -l)"

# That of another job is refused.
! run 2 "$upmu" record --mpi -o shared -- ./subject late >out 2>err || fail "the directory of another job was used"
grep -q 'is not empty, and not of this job' err || fail "no reason: $(cat err)"

# The exit status of a rank is kept. A program without MPI under the launcher has ranks without calls.
run 2 "$upmu" record --mpi -o plain -- /bin/true >out 2>err || fail "/bin/true failed: $(cat err)"
is "ranks without MPI" 2 "$("$upmu" dump plain | grep -c 'mpi-env "MPI_Init was not called".* wrapped=0')"

# Without a launcher it is a job of one.
"$upmu" record --mpi -o one -- ./subject late >out 2>err || { cat err >&2; fail "status $?"; }
is "one rank" 1 "$("$upmu" dump one | grep -c 'mpi-env .* rank=0 size=1 .*wrapped=1')"

# A recorder that is killed counts as one that has ended: the last one reports, here without a launcher that would end it, too.
rank_of_job()
{
    local rank=$1
    shift
    OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 UPMU_MPI_JOB=killed "$upmu" record --mpi -o killed -- "$@"
}
rank_of_job 1 sh -c 'kill -KILL $PPID' >out 2>err && fail "the recorder was not killed"
! grep -q 'records of' err || fail "a killed recorder has reported: $(cat err)"
rank_of_job 0 true >out 2>err || fail "status $?: $(cat err)"
grep -q 'upmu: .* records of 2 processes' err || fail "no recorder has reported: $(cat err)"
