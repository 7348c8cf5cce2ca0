# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2034 # variables go from file to file
# What the tests on other architectures share. Sourced by the scripts of this folder with `set -euo pipefail`; $guests is
# the folder in which downloads and cross builds are kept, $root the source tree.
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
guests=$1
mkdir -p "$guests"
guests=$(cd "$guests" && pwd)

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

skip()
{
    echo "skipped, because $*"
    exit 77
}

# need COMMAND PACKAGE...: a tool of this machine
need()
{
    local command=$1
    shift
    command -v "$command" >/dev/null ||
        skip "there is no $command here: apt-get install --no-install-recommends $*"
}

# shellcheck source=tests/guests/debian.sh
. "$here/debian.sh"

# One script at a time downloads and builds: ctest runs several.
exec 8>"$guests/lock"
work_begin() { flock 8; }
work_end() { flock -u 8; }

# logged NAME COMMAND...: its output goes to a file that is shown when it fails
logged()
{
    local log=$guests/logs/$1.log
    shift
    mkdir -p "$guests/logs"
    "$@" >"$log" 2>&1 || { tail -n 30 "$log" >&2; return 1; }
}
