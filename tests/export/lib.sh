# SPDX-License-Identifier: MIT
# What the tests of exports share. shellcheck shell=bash
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
formats="chrome perfetto folded flamegraph callgrind pprof otlp speedscope firefox csv jsonl arrow tasks gcc html"

# export_all RECORDING TO [OPTIONS]: in each format, to TO.FORMAT
export_all() {
    local recording=$1 to=$2 format
    shift 2
    for format in $formats; do
        expect 0 "$UPMU" export -f "$format" -o "$to.$format" "$@" "$recording"
        empty out
    done
}

# Binary formats are decoded to text by an independent reader, which must name every field.
decode() {
    local to=$1
    protoc --decode=Trace -I "$HERE" "$HERE/perfetto.proto" <"$to.perfetto" >"$to.perfetto.txt" || fail "protoc does not read $to.perfetto"
    protoc --decode=Profile -I "$HERE" "$HERE/profile.proto" <"$to.pprof" >"$to.pprof.txt" || fail "protoc does not read $to.pprof"
    protoc --decode=ProfilesData -I "$HERE" "$HERE/otlp.proto" <"$to.otlp" >"$to.otlp.txt" || fail "protoc does not read $to.otlp"
    ! grep -nE '^ *[0-9]+:' "$to.perfetto.txt" "$to.pprof.txt" "$to.otlp.txt" || fail "unknown fields"
    callgrind_annotate --auto=no "$to.callgrind" >"$to.callgrind.txt" 2>"$to.callgrind.err" ||
        { fail "callgrind_annotate does not read $to.callgrind"; cat "$to.callgrind.err" >&2; }
}
