# shellcheck shell=bash
# Of the tests of MPI: SCRIPT DIR UPMU MPI, where MPI is openmpi or mpich. Sourced; leaves the test in a directory of its own.
set -euo pipefail
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
# shellcheck disable=SC2034 # of the script that sources this
here=$1 upmu=$2 mpi=$3
unset "${!UPMU_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}"

fail()
{
    echo "FAIL: $*" >&2
    exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
for tool in mpicc.$mpi mpirun.$mpi; do
    command -v "$tool" >/dev/null || { echo "skipped, because $tool is not installed"; exit 77; }
done

# run RANKS COMMAND...: with few ranks, which give way to each other where the MPI can.
run()
{
    local ranks=$1
    shift
    if [ "$mpi" = openmpi ]; then
        mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -np "$ranks" "$@"
    else
        mpirun.mpich -np "$ranks" "$@"
    fi
}

# record DIR RANKS COMMAND...
record()
{
    local dir=$1 ranks=$2
    shift 2
    if [ "$mpi" = openmpi ]; then
        "$upmu" record --mpi -o "$dir" -- mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -np "$ranks" "$@"
    else
        "$upmu" record --mpi -o "$dir" -- mpirun.mpich -np "$ranks" "$@"
    fi >"$dir.out" 2>"$dir.err" || { cat "$dir.err" >&2; fail "recording $* ended with $?"; }
}

# is WHAT EXPECTED FOUND
is()
{
    [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}
