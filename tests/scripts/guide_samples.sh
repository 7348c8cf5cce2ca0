#!/usr/bin/env bash
# guide_samples.sh CC CXX TREE BUILD UPMU: the samples, names and options of the README and the guide are those of the library.
#
# Each C and C++ sample compiles, as a file if it defines a function, else as the body of one. A line "..." stands for code that the
# sample leaves out. Each upmu_ and UPMU_ name is in the sources, each option of an upmu command in its --help.
set -euo pipefail
cc=$1 cxx=$2 tree=$3 build=$4 upmu=$5
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# What the samples use without declaring it.
cat >"$dir/around.h" <<'END'
#include <inttypes.h>
#include <stdio.h>
#include <upmu/region.h>
struct block;
void compress(const char *input);
void histogram_add(void *counts, uint64_t pc);
void parse(const char *input);
int ready(void);
void run_threads(void);
void step(void);
void warm_up(void);
void work(void);
END
cat >"$dir/around.hpp" <<'END'
#include <iostream>
#include <numeric>
#include <string>
#include <vector>
std::string id();
void run_threads();
long sum(const std::vector<int> &numbers);
long work(const std::vector<int> &numbers);
extern const std::vector<int> numbers;
END

# DOC.N.c for each block of DOC that begins with ```c, DOC.N.cpp for ```cpp
extract()
{
    awk -v stem="$dir/$(basename "$1" .md)" '
        function flush_sample() {
            file = sprintf("%s.%d.%s", stem, line, language)
            printf "%s", includes >file
            if (!whole)
                printf "static void sample(void)\n{\n" >file
            printf "#line %d\n%s", line, body >file
            if (!whole)
                print "}" >file
            close(file)
        }
        /^```(c|cpp)$/ { inside = 1; language = substr($0, 4); line = FNR + 1; includes = body = ""; whole = 0; next }
        /^```/ { if (inside) flush_sample(); inside = 0; next }
        !inside { next }
        /^#include/ { includes = includes $0 "\n"; body = body "\n"; next }
        /^ *\.\.\.$/ { body = body "\n"; next }
        $0 == "{" { whole = 1 }
        { body = body $0 "\n" }' "$1"
}

failed=0 samples=0
docs=("$tree"/README.md "$tree"/docs/guide.md "$tree"/docs/guide/*.md)
for doc in "${docs[@]}"; do
    extract "$doc"
done
flags=(-Wall -Wextra -Werror -Wno-unused-function -Wno-unused-variable -Wno-unused-parameter -I"$tree/include"
    -I"$build/include" -I"$tree/bindings/cpp" -c -o "$dir/sample.o")
for sample in "$dir"/*.c "$dir"/*.cpp; do
    case $sample in
        *'*'*) continue ;;
        *.c) compile=("$cc" -std=c11 -include "$dir/around.h") ;;
        *) compile=("$cxx" -std=c++17 -include "$dir/around.hpp" -include upmu/upmu.hpp) ;;
    esac
    samples=$((samples + 1))
    "${compile[@]}" "${flags[@]}" "$sample" 2>"$dir/errors" || {
        echo "the sample $(basename "$sample") (document and line) does not compile:"
        cat "$dir/errors"
        failed=1
    }
done
[ $samples -ge 8 ] || { echo "only $samples samples found"; failed=1; }

grep -hoE '\b(upmu_[a-z0-9_]*[a-z0-9]|UPMU_[A-Z0-9_]*[A-Z0-9])\b' "${docs[@]}" | sort -u >"$dir/names"
grep -rhoE '\b(upmu|UPMU)_[A-Za-z0-9_]+\b' "$tree/include" "$tree/bindings" "$tree/lib" "$tree/tools" "$tree/cmake" \
    "$tree/CMakeLists.txt" | sort -u >"$dir/defined"
comm -23 "$dir/names" "$dir/defined" >"$dir/unknown"
[ ! -s "$dir/unknown" ] || { echo "names that the library does not have: $(tr '\n' ' ' <"$dir/unknown")"; failed=1; }

# COMMAND OPTION for each option behind "upmu COMMAND", up to the end of the quotation or the command that upmu runs
grep -hoE '\bupmu [a-z]+ [^`#]*' "${docs[@]}" |
    awk '{ sub(/ -- .*/, ""); n = split($0, word, /[ |=]/)
           for (i = 3; i <= n; i++) if (word[i] ~ /^--?[a-zA-Z][a-z-]*$/) print word[2], word[i] }' | sort -u >"$dir/options"
while read -r command option; do
    grep -qE -- "(^|[ ,])$option([ ,]|\$)" < <("$upmu" "$command" --help) || {
        echo "upmu $command has no option $option"
        failed=1
    }
done <"$dir/options"

[ $failed -eq 0 ] || exit 1
echo "$samples samples, $(wc -l <"$dir/names") names and $(wc -l <"$dir/options") options"
