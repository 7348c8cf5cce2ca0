#!/usr/bin/env bash
# Work, waits and call stacks with each version of LLVM's runtime that is installed beside the compiler's own.
#     versions.sh DIR UPMU
set -euo pipefail
here=$1 upmu=$2 folders=${OPENMP_RUNTIMES:-/usr/lib/llvm-*/lib} # folders with a libomp.so.5 each
command -v clang >/dev/null || { echo "skipped, because clang is not installed"; exit 77; }
own=$(readlink -f "$(clang -print-file-name=libomp.so.5)")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
n=0
for folder in $folders; do
    runtime=$(readlink -f "$folder/libomp.so.5" || true)
    if [ ! -e "$runtime" ] || [ "$runtime" = "$own" ]; then
        continue
    fi
    mkdir "$scratch/$n"
    cp "$runtime" "$scratch/$n/libomp.so.5"
    for test in work stacks; do
        status=0
        LD_LIBRARY_PATH=$scratch/$n bash "$here/$test.sh" "$here" "$upmu" libomp || status=$?
        [ "$status" -eq 0 ] || { echo "$test with $runtime ended with $status" >&2; exit "$status"; }
    done
    echo "work and stacks: $runtime"
    n=$((n + 1))
done
[ "$n" -gt 0 ] || { echo "skipped, because $own is the only libomp.so.5: install libomp5-15, or set OPENMP_RUNTIMES"; exit 77; }
