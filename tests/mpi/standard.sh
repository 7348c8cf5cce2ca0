#!/usr/bin/env bash
# A library with the ABI of MPI 5.0, which no distribution has yet: one rank, and a library that follows the standard.
set -euo pipefail
here=$1 upmu=$2
unset "${!UPMU_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}" "${!OMPI_@}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail()
{
    echo "FAIL: $*" >&2
    exit 1
}
cc -O1 -w -shared -fPIC -Wl,-soname,libmpi_abi.so.1 -o libmpi_abi.so.1 "$here/programs/fake_abi.c"
cc -g -O1 -w -o standard "$here/programs/standard.c" ./libmpi_abi.so.1 -Wl,-rpath,"$PWD"
./standard || fail "the program itself"
PMI_RANK=0 PMI_SIZE=1 UPMU_MPI_EXCHANGE=0 "$upmu" record --mpi -o r -- ./standard >out 2>err || fail "$(cat out err)"
"$upmu" report --mpi --json r >json || fail "no report: $(cat err)"
"$upmu" dump r >dump
python3 - <<'PYTHON' || fail "$(cat json; grep mpi dump | head -40)"
import json
job, = json.load(open("json"))["jobs"]
rank, = job["ranks_recorded"]
assert (rank["wrapped"], rank["library"], rank["end"]) == (True, "Fake MPI 5.0", "finalized"), rank
assert (rank["sent"], rank["sent_bytes"]) == (20, 10 * (32 + 5)), rank
assert (rank["received"], rank["received_bytes"]) == (20, 10 * (32 + 5)), rank
calls = {f["name"]: f["calls"] for f in job["functions"]}
counted = [calls.get("MPI_" + n) for n in ("Session_init", "Session_finalize", "Psend_init", "Pready", "Barrier")]
assert counted == [1, 1, 1, 2, 1], calls
assert (job["messages"], job["unmatched"], job["partial"]) == (20, 0, 0), job
PYTHON
