#!/usr/bin/env bash
# Every MPI call of a C program is recorded once, with its message, and so nothing else.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

mpicc.$mpi -g -O1 -w -o subject "$here/programs/subject.c"
record r 2 ./subject calls
grep -q ' of 2 processes and 2 threads' r.err || fail "the launcher is recorded, too: $(cat r.err)"
"$upmu" dump r >dump

# count PATTERN: events of both ranks
count()
{
    grep -cE "$1" dump || true
}
for kind in enter leave; do
    is "$kind of sends" 10 "$(count " mpi-$kind .* call=MPI_Send ")"
    is "$kind of receives" 22 "$(count " mpi-$kind .* call=MPI_Recv ")"
    is "$kind of Irecv" 20 "$(count " mpi-$kind .* call=MPI_Irecv ")"
    is "$kind of Isend" 20 "$(count " mpi-$kind .* call=MPI_Isend ")"
    is "$kind of Waitall" 20 "$(count " mpi-$kind .* call=MPI_Waitall ")"
    is "$kind of Sendrecv" 20 "$(count " mpi-$kind .* call=MPI_Sendrecv ")"
    for call in Init Bcast Allreduce Allgather Comm_split Comm_dup Finalize; do
        is "$kind of $call" 2 "$(count " mpi-$kind .* call=MPI_$call ")"
    done
    is "$kind of Barrier" 4 "$(count " mpi-$kind .* call=MPI_Barrier ")"
    is "$kind of all" 156 "$(count " mpi-$kind ")"
done
is "wildcards that were received" 10 "$(count ' mpi-leave .*MPI_Recv result=0 .*comm=0x1 peer=0 tag=5 bytes=800')"
is "receives from MPI_PROC_NULL" 2 "$(count ' mpi-leave .*MPI_Recv .*peer=-2 .*bytes=0')"
is "sent bytes" 10 "$(count ' mpi-leave .*MPI_Send .*peer=1 tag=5 bytes=800')"
is "requests of receives" 20 "$(count ' mpi-request .*MPI_Irecv result=0 .*tag=6 bytes=28')"
is "requests of sends" 20 "$(count ' mpi-request .*MPI_Isend result=0 .*tag=6 bytes=28')"
is "received parts of Sendrecv" 20 "$(count ' mpi-request .*MPI_Sendrecv result=0 .*tag=5 bytes=3')"
is "persistent requests that are started" 10 "$(count ' mpi-start .*MPI_Send_init .*peer=1 tag=7')"
is "persistent requests that are complete" 10 "$(count ' mpi-request .*MPI_Send_init result=0')"
is "request numbers" 1 "$(grep ' mpi-request ' dump | grep -v Sendrecv | awk '{ print $2, $NF }' | sort | uniq -c | awk '{ print $1 }' | sort -u)"
# Polls in a row are one event, or several if they take long.
is "polls" 100 "$(sed -nE 's/.* mpi-poll .*MPI_Iprobe .* calls=([0-9]+) .*/\1/p' dump | awk '{ n += $1 } END { print n }')"
is "polls as events" 0 "$(count ' mpi-(enter|leave) .*MPI_Iprobe')"
is "counted calls" 2 "$(count ' mpi-count .*MPI_Comm_rank calls=1')"
is "ranks" "0 1" "$(sed -nE 's/.* mpi-env .* rank=([0-9]+) size=2 thread_level=[0-3] wrapped=1.*/\1/p' dump | sort | xargs)"
is "sequence of collectives" "1 2 3" "$(sed -nE 's/.* mpi-enter .*MPI_(Comm_split|Barrier|Bcast) .*comm=0x1 .*sequence=([0-9]+).*/\2/p' dump | sort -u | xargs)"
is "requests that are waited for" "$((2 + (1 << 32)))" "$(sed -nE 's/.* mpi-enter .*MPI_Waitall .*sequence=([0-9]+).*/\1/p' dump | sort -u)"
is "source and tag of Sendrecv" "$((0x8000000000000005)) $((0x8000000100000005))" "$(sed -nE 's/.* mpi-enter .*MPI_Sendrecv .*sequence=([0-9]+).*/\1/p' dump |
    sort -u | while read -r n; do printf '%d ' $((n)); done | sed 's/ $//')"
is "bytes with MPI_IN_PLACE" "80 ?" "$(sed -nE 's/.* mpi-leave .*MPI_All.*bytes=([^ ]*).*/\1/p' dump | sort -u | xargs)"

# Communicators have the same number in their ranks, and different ones otherwise.
is "communicators" 5 "$(sed -nE 's/.* mpi-comm .*comm=(0x[0-9a-f]+).*/\1/p' dump | sort -u | wc -l)"
record four 4 ./subject calls
"$upmu" dump four >dump
is "communicators of four ranks" 5 "$(sed -nE 's/.* mpi-comm .*comm=(0x[0-9a-f]+).*/\1/p' dump | sort -u | wc -l)"
is "ranks of these" "4 4 4 4 4" "$(sed -nE 's/.* mpi-comm .*comm=(0x[0-9a-f]+).*size=([0-9]+)/\1 \2/p' dump | sort | uniq -c | awk '{ print $1 * ($3 == 2 ? 2 : 1) }' | xargs)"

# Locks and threads are the program's: neither the launcher's nor those of MPI.
is "locks of MPI" 0 "$(count ' (lock-[^c]|cond|sem|thread-create|thread-start)')"
"$upmu" report r >report
grep -q '0 events of unknown types' report || ! grep -q 'unknown types' report || fail "the report does not have the events"
