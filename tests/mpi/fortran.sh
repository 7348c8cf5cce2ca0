#!/usr/bin/env bash
# Calls of Fortran are recorded once, whatever an MPI makes of them: mpif.h, use mpi and use mpi_f08.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"
command -v mpif90.$mpi >/dev/null || { echo "skipped, because mpif90.$mpi is not installed"; exit 77; }
command -v gfortran >/dev/null || { echo "skipped, because gfortran is not installed"; exit 77; }

sed -e 's/@USE@/use mpi/' -e 's/@STATUS@/integer :: st(MPI_STATUS_SIZE)/' -e 's/@REQUEST@/integer/' -e 's/@COMM@/integer/' \
    -e 's/@MESSAGE@/integer/' -e 's/@INCLUDE@//' "$here/programs/subject.f90.in" >mpi.f90
sed -e '/@USE@/d' -e "s/@INCLUDE@/include 'mpif.h'/" -e 's/@STATUS@/integer :: st(MPI_STATUS_SIZE)/' -e 's/@REQUEST@/integer/' \
    -e 's/@COMM@/integer/' -e 's/@MESSAGE@/integer/' "$here/programs/subject.f90.in" >mpif.f90
sed -e 's/@USE@/use mpi_f08/' -e 's/@STATUS@/type(MPI_Status) :: st/' -e 's/@REQUEST@/type(MPI_Request)/' \
    -e 's/@COMM@/type(MPI_Comm)/' -e 's/@MESSAGE@/type(MPI_Message)/' -e 's/@INCLUDE@//' "$here/programs/subject.f90.in" >f08.f90
calls=("Send 3" "Recv 2" "Mprobe 1" "Mrecv 1" "Irecv 2" "Isend 2" "Waitall 2" "Allreduce 2" "Allgather 2" "Comm_dup 2" "Comm_free 2" "Init 2" "Finalize 2")
all=25 mpi4='!'
if [ "$mpi" = mpich ]; then # persistent collectives
    calls+=("Bcast_init 2" "Barrier_init 2" "Start 2" "Startall 2" "Wait 6" "Request_free 4")
    all=43 mpi4=
fi
sed -i "s/@MPI4@/$mpi4/" ./*.f90
for way in mpi mpif f08; do
    mpif90.$mpi -fallow-argument-mismatch -w -o $way $way.f90
    record r_$way 2 ./$way
    "$upmu" dump r_$way >dump
    for call in "${calls[@]}"; do
        # shellcheck disable=SC2086
        set -- $call
        is "$way: MPI_$1" "$2" "$(grep -c " mpi-leave .*call=MPI_$1 result=0" dump)"
    done
    is "$way: all" $all "$(grep -c ' mpi-leave ' dump)"
    is "$way: from a status" 1 "$(grep -c ' mpi-leave .*MPI_Recv .*peer=0 tag=3 bytes=80' dump)"
    is "$way: from an ignored status" 1 "$(grep -c ' mpi-leave .*MPI_Recv .*peer=0 tag=4 bytes=80' dump)"
    is "$way: by its handle" 1 "$(grep -c ' mpi-leave .*MPI_Mrecv .*peer=0 tag=6 bytes=72' dump)"
    is "$way: from ignored statuses" 2 "$(grep -c ' mpi-request .*MPI_Irecv .*tag=5 bytes=80' dump)"
    is "$way: sent" 2 "$(grep -c ' mpi-leave .*MPI_Send .*peer=1 tag=[34] bytes=80' dump)"
    is "$way: requests" 4 "$(grep -c ' mpi-request .*result=0' dump)"
    is "$way: MPI_IN_PLACE" 2 "$(grep -c ' mpi-leave .*MPI_Allgather .*bytes=?' dump)"
    is "$way: ranks" 2 "$(grep -c ' mpi-env .*wrapped=1' dump)"
    "$upmu" report --mpi --json r_$way >json
    python3 -c 'import json; j, = json.load(open("json"))["jobs"]; assert (j["messages"], j["unmatched"]) == (5, 0), j' || fail "$way: messages"
done
