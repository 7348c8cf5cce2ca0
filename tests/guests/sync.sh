# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2034 # variables go from file to file
# Sync tracing in a guest: what the program needs there, and the judgement of the recordings it leaves, by the upmu command
# of this machine. Sourced after boot.sh.

# sync_command COMMAND: sets $upmu; skips where the command is not built
sync_command()
{
    upmu=$1
    [ -x "$upmu" ] || skip "there is no upmu command to read the guest's recordings with: cmake --build --preset release"
    need python3 python3
}

# sync_libraries LIBRARIES: into $base go the dynamic linker and the C library, which lie in the folder LIBRARIES, and ours
sync_libraries()
{
    local name
    mkdir -p "$base/lib"
    for name in "$1"/ld-linux-*.so.1 "$1"/lib{c,m,gcc_s}.so.[0-9] "$build"/lib/libupmu{,_sync}.so.0; do
        cp -L "$name" "$base/lib/$(basename "$name")"
    done
}

# sync_judge NAME: the recordings of the guest of this name
sync_judge()
{
    local folder=$guests/recordings/$1 scene
    rm -rf "$folder"
    python3 "$here/receive.py" "$guests/logs/$1.console" "$folder" || fail "the guest's recordings did not come through"
    for scene in sections running; do
        "$upmu" report --json "$folder/$scene/trace" >"$folder/$scene/report.json" ||
            fail "the recording $folder/$scene/trace cannot be read"
        python3 "$here/sync_judge.py" "$scene" "$folder/$scene/report.json" "$folder/$scene/known" ||
            fail "the recording $folder/$scene/trace does not match what happened"
    done
}
