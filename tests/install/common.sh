# What the tests of the installed tree share. Sourced; the caller has set -euo pipefail.

# shellcheck disable=SC2034 # for the scripts that source this
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

# runs PROGRAM WORDS: it ends well and prints the words
runs()
{
    local out program=$1 words=$2
    out=$("$program") || fail "$program ended with status $?: $out"
    grep -qF "$words" <<<"$out" || fail "$program did not print '$words' but: $out"
}

# header_version TREE: the version of the installed headers
header_version()
{
    sed -n 's/^#define UPMU_VERSION_STRING "\(.*\)"/\1/p' "$1/include/upmu/version.h"
}
