#!/usr/bin/env bash
# The HTML report as its reader sees it: all its tests in Chromium, with a million events and with ten, then pictures of every
# view, light and dark, of a real program's recording, to be looked at.
#
#     scripts/views.sh [RECORDING...]     more recordings to make pictures of
#
# Works from a bare Debian 12 with git, as root or with sudo (scripts/deps.sh). Everything it makes is in build/views.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
upmu=build/release/tools/upmu/upmu
work=build/views

# Some megabytes of this system's own files: what is packed matters little, the threads that pack it do.
make_data()
{
    find /usr/bin -type f -size +100k -print0 | LC_ALL=C sort -z | xargs -0 cat 2>/dev/null | head -c 30000000 >"$work/data" || true
    [ "$(stat -c %s "$work/data")" -eq 30000000 ] || { echo "views: /usr/bin has too little to pack" >&2; exit 1; }
}

main()
{
    local recording name
    scripts/deps.sh test
    mkdir -p "$work"
    cmake --preset release -DUPMU_BUILD_TESTS=ON -DUPMU_BUILD_TOOLS=ON -DUPMU_BUILD_EXAMPLES=ON >"$work/configure.log"
    cmake --build --preset release --parallel "$(nproc)" >"$work/build.log" || { cat "$work/build.log" >&2; exit 1; }
    ctest --preset release -R '^(views\.|unit\.export\.html)' --output-on-failure
    make_data
    rm -rf "$work/demo"
    "$upmu" record -e task-clock,page-faults,context-switches -o "$work/demo" -- build/release/examples/demo "$work/data" "$work/data.bz2"
    for recording in "$work/demo" "$@"; do
        name=$(basename "$recording")
        "$upmu" report --html "$work/$name.html" "$recording"
        PYTHONDONTWRITEBYTECODE=1 python3 tests/views/pictures.py "$work/$name.html" "$work/$name"
    done
    echo "views: look at $work/*.png"
}

main "$@"
