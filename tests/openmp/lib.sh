# shellcheck shell=bash
# Of the tests of OpenMP: SCRIPT DIR UPMU RUNTIME, where RUNTIME is libgomp or libomp. Sourced; leaves the test in a directory of its own
# with ./subject.
set -euo pipefail
export LC_ALL=C OMP_WAIT_POLICY=passive
here=$1 upmu=$2 runtime=$3
unset "${!UPMU_@}" OMP_TOOL OMP_TOOL_LIBRARIES OMP_NUM_THREADS

fail()
{
    echo "FAIL: $*" >&2
    exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
case $runtime in
    libgomp) compiler=gcc ;;
    libomp) compiler=clang ;;
esac
command -v "$compiler" >/dev/null || { echo "skipped, because $compiler is not installed"; exit 77; }
"$compiler" -O1 -g -fopenmp -o subject "$here/subject.c" -lpthread 2>compile.err || {
    cat compile.err >&2
    echo "skipped, because $compiler cannot link an OpenMP program: is $runtime installed?"
    exit 77
}

# record DIR COMMAND...: the program's own times are in DIR.out
record()
{
    local dir=$1
    shift
    rm -rf "$dir"
    "$upmu" record --openmp -o "$dir" -- "$@" >"$dir.out" 2>"$dir.err"
}

# is WHAT EXPECTED FOUND
is()
{
    [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}
