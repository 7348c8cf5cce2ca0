# SPDX-License-Identifier: MIT
# The C headers in Go (cgo), Rust (bindgen) and LuaJIT (ffi), each where its tool is installed: languages.sh LANGUAGE.
# Environment: HERE, DIR, INCLUDE (folders of headers), LIB (shared libraries), CC.
set -euo pipefail
language=$1
skip() { echo "skipped, because $*"; exit 77; }
need() { command -v "$1" >/dev/null || skip "$1 is not installed (Debian: $2)"; }
sources=$HERE/languages
dir=$DIR/$language
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
flags=()
for folder in $INCLUDE; do flags+=("-I$folder"); done
export LD_LIBRARY_PATH=$LIB
case $language in
go)
    need go golang-go
    export CGO_CFLAGS="${flags[*]}" CGO_LDFLAGS="-L$LIB -lupmu" GOCACHE=$dir/cache GOFLAGS=-mod=mod GO111MODULE=off CC
    go build -o use "$sources/use.go"
    ./use | tee out
    ;;
rust)
    need bindgen bindgen
    need rustc rustc
    rustc --version >/dev/null 2>&1 || skip "rustc does not start"
    printf '#include <upmu/region.h>\n#include <upmu/upmu.h>\n' >all.h
    bindgen --allowlist-function 'upmu_.*' --allowlist-type 'upmu_.*' --allowlist-var 'UPMU_.*' -o bindings.rs all.h -- "${flags[@]}"
    BINDINGS=$dir rustc --edition 2021 -L "$LIB" -l upmu -o use "$sources/use.rs"
    ./use | tee out
    # Sizes and offsets as the C compiler has them.
    rustc --edition 2021 --test -A warnings -L "$LIB" -l upmu -o layout bindings.rs
    ./layout | tee layout.out | tail -n 2
    ! grep -q '^test result: ok\. 0 passed' layout.out || grep -q 'const _: ()' bindings.rs # newer bindgen checks when compiling
    ;;
lua)
    need luajit luajit
    printf '#include <upmu/region.h>\n#include <upmu/upmu.h>\n' >all.h
    # ffi.cdef() reads declarations: what the preprocessor leaves of our headers, without bodies of inline functions.
    "$CC" -E -P -std=gnu11 "${flags[@]}" all.h >all.i
    "${PYTHON3:-python3}" "$sources/declarations.py" all.i >all.ffi
    luajit "$sources/use.lua" all.ffi "$LIB/libupmu.so" | tee out
    ;;
esac
grep -qE "^[0-9.]+[[:space:]]${language}[[:space:]]3\$" out
