#!/usr/bin/env bash
# MPI calls of a program that restricts its time stamps: it runs on as without a recording, and the calls before that are kept.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

mpicc.$mpi -g -O1 -w -o subject "$here/programs/restricted.c"
status=0
./subject 2>bare || status=$? # as the only rank, without a launcher
[ $status -eq 0 ] || { echo "skipped, because this MPI or this machine needs time stamps in a barrier: status $status"; exit 77; }
"$upmu" record --mpi -o r -- ./subject 2>err || fail "status $?: $(cat err)"
"$upmu" dump r >dump
is "barriers" 5 "$(grep -c ' mpi-leave .* call=MPI_Barrier ' dump)"
"$upmu" report r >report
grep -q 'the program restricted its system calls' report || fail "no reason in the report: $(cat report)"
