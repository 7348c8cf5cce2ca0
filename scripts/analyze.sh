#!/usr/bin/env bash
# Static analysis of the library and the tools beyond scripts/test.sh: cppcheck, gcc with -fanalyzer, and clang's analyzer with more
# paths.
#
#     scripts/analyze.sh [cppcheck|gcc|clang]...
#
# A finding is fixed, or stands in the list of the tool in scripts/analyze with the reason why it is none. Exit status: 1 for a finding
# that is not listed, or a line that no finding matches any more. Not part of scripts/test.sh: ten minutes on two processors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/analyze jobs=$(nproc)
case "${1:-cppcheck}" in
cppcheck | gcc | clang) ;;
*)
    sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
[ $# -gt 0 ] || set -- cppcheck gcc clang

analyze_cppcheck()
{
    command -v cppcheck >/dev/null || { echo "cppcheck is not installed. Install the package of that name." >&2; return 2; }
    nice cppcheck --quiet --enable=warning,performance,portability --std=c11 -j "$jobs" -I include -I lib --suppress=missingInclude \
        --template='{file}:{line}: {id}: {message}' lib tools
}

analyze_gcc()
{
    # gcc loses track of memory that is kept in arrays which grow and in structs that a caller owns. The suite runs under LeakSanitizer.
    nice python3 scripts/analyze/gcc.py $build -fanalyzer -Wno-analyzer-malloc-leak
}

# scripts/test.sh follows 10,000 nodes of each function. .clang-tidy has why these checks are left out.
analyze_clang()
{
    local checks='-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.*,-clang-analyzer-optin.portability.UnixAPI,-clang-analyzer-valist.*'
    sed -n 's/^ *"file": "\(.*\.c\)".*/\1/p' $build/compile_commands.json | grep -E "^$PWD/(lib|tools)/" | sort -u |
        xargs -n 1 -P "$jobs" nice clang-tidy --quiet -p $build --checks="$checks" --warnings-as-errors='-*' \
        --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=75000 2>/dev/null |
        sed -n "s|^$PWD/\\([^:]*:[0-9]*\\):[0-9]*: [a-z]*: \\(.*\\) \\[\\([^],]*\\).*|\\1: \\3: \\2|p"
}

# judge TOOL: findings as "FILE:LINE: ID: MESSAGE" against the list, whose lines are "ID FILE REASON"
judge()
{
    awk -v tool="$1" '
        !findings { if ($0 !~ /^#/ && NF) { listed[$1 " " $2] = 1; if (NF < 3) { print "no reason: " $0; bad = 1 } } next }
        { split($1, at, ":"); id = $2; sub(/:$/, "", id); key = id " " at[1]
          if (key in listed) { found[key] = 1; next }
          print; bad = 1 }
        END {
            for (key in listed) if (!(key in found)) { print "scripts/analyze/" tool ".txt: no such finding: " key; bad = 1 }
            exit bad
        }' "scripts/analyze/$1.txt" findings=1 -
}

mkdir -p $build
CC=gcc cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DUPMU_BUILD_TESTS=OFF \
    -DUPMU_BUILD_BENCH=OFF >/dev/null
cmake --build $build --target upmu_event_tables >/dev/null
status=0
for tool in "$@"; do
    "analyze_$tool" >$build/$tool.log 2>&1 || { tail -20 $build/$tool.log >&2; exit 2; }
    if judge "$tool" <$build/$tool.log; then
        echo "$tool: no finding that is not explained"
    else
        status=1
    fi
done
exit $status
