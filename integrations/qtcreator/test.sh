#!/usr/bin/env bash
# Qt Creator with the menu of integrations/qtcreator: opens a project with a deadlock, records it, checks for the deadlock and
# stops it from the menu. Screenshots are kept, and the texts of menu and issues are read from them.
#
#     integrations/qtcreator/test.sh [FOLDER]     screenshots into FOLDER, by default build/qtcreator
#
# Needs Debian's qtcreator and a virtual screen (it installs what is missing), and takes about two minutes. Exit status: 0
# passed, 1 failed, 77 skipped, because the packages cannot be had.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD/integrations/qtcreator
shots=${1:-build/qtcreator}
work=$(mktemp -d)
# shellcheck source=../../scripts/screen.sh
. scripts/screen.sh
trap 'kill "${screen_jobs[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

fail()
{
    shot failure || true
    echo "FAILED: $* (see $shots/failure.png)" >&2
    exit 1
}

# shot NAME: the screen as NAME.png
shot()
{
    import -window root "$shots/$1.png"
}

# words: "X Y WORD" of all words on the screen, from its left top corner, by reading a picture twice as large
words()
{
    shot reading
    convert "$shots/reading.png" -resize 200% -colorspace gray "$work/large.png"
    tesseract "$work/large.png" - --psm 11 tsv 2>/dev/null |
        awk -F'\t' '$11 > 30 && $12 != "" { print int(($7 + $9 / 2) / 2), int(($8 + $10 / 2) / 2), $12 }'
}

# place TEXT: where its first word stands, if its words stand side by side
place()
{
    words | awk -v text="$1" '
        BEGIN { n = split(text, want, " ") }
        { x[NR] = $1; y[NR] = $2; word[NR] = $3 }
        END {
            for (i = NR - n + 1; i > 0; i--) {
                for (k = 1; k <= n && word[i + k - 1] == want[k] && y[i + k - 1] - y[i] < 8 && y[i] - y[i + k - 1] < 8; k++)
                    ;
                if (k > n) { print x[i], y[i]; exit }
            }
        }'
}

# until_seen TEXT: waits for it, at most a minute
until_seen()
{
    local at
    for _ in $(seq 1 40); do
        at=$(place "$1")
        [ -z "$at" ] || { echo "$at"; return 0; }
        sleep 1
    done
    fail "'$1' does not appear"
}

# click TEXT
click()
{
    local at
    at=$(until_seen "$1")
    # shellcheck disable=SC2086 # two numbers
    xdotool mousemove $at sleep 0.3 click 1 sleep 0.7
}

# choose N [NAME]: the Nth entry of the menu Concurrency Analyze, which is the first below Tools > External; by keys, as
# letters that are underlined read badly. NAME: a screenshot of the menu
choose()
{
    xdotool mousemove 1200 900 sleep 0.3 key alt+t sleep 1 key e sleep 1 key Right sleep 1
    for _ in $(seq 2 "$1"); do
        xdotool key Down sleep 0.3
    done
    [ -z "${2-}" ] || shot "$2"
    xdotool key Return sleep 1
}

# until_file FILE: it must come into being within a minute
until_file()
{
    for _ in $(seq 1 120); do
        [ ! -e "$1" ] || return 0
        sleep 0.5
    done
    fail "$1 does not appear"
}

install_missing()
{
    local package missing=()
    for package in qtcreator qml6-module-qtquick-templates qml6-module-qtquick-window libgl1-mesa-dri xvfb openbox xdotool \
        imagemagick tesseract-ocr; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -x installed >/dev/null || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    echo "installing ${missing[*]}"
    if ! apt-get -qq update || ! DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "${missing[@]}" >"$work/apt.log" 2>&1; then
        echo "skipped, because these packages cannot be installed: ${missing[*]}"
        exit 77
    fi
}

project()
{
    mkdir -p "$work/till"
    cat >"$work/till/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(till C)
set(CMAKE_BUILD_TYPE Debug)
find_package(Threads REQUIRED)
add_executable(till till.c)
target_link_libraries(till Threads::Threads)
END
    cat >"$work/till/till.c" <<'END'
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t safe = PTHREAD_MUTEX_INITIALIZER;

static void *clerk(void *arg)
{
    pthread_mutex_lock(&safe);
    usleep(200000);
    pthread_mutex_lock(&till);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, clerk, NULL);
    pthread_mutex_lock(&till);
    usleep(200000);
    pthread_mutex_lock(&safe);
    return 0;
}
END
}

install_missing
command -v upmu >/dev/null || PATH=$PWD/build/release/tools/upmu:$PATH
command -v upmu >/dev/null || fail "build libupmu first (cmake --preset release && cmake --build build/release)"
mkdir -p "$shots"
shots=$(cd "$shots" && pwd)
project
open_screen 1600x1100 || fail "there is no free display"
"$here/install.sh" --settings "$work/settings" >/dev/null
LIBGL_ALWAYS_SOFTWARE=1 XDG_RUNTIME_DIR=$work qtcreator -settingspath "$work/settings" -notour -no-crashcheck \
    "$work/till/CMakeLists.txt" >"$work/log" 2>&1 &
screen_jobs+=($!)
until_seen "Configure Project" >/dev/null
window=$(xdotool search --onlyvisible --name 'Qt Creator' | head -1)
xdotool windowsize "$window" 1600 1080 windowmove "$window" 0 0 sleep 1
# Of the kits that it has found (cross compilers have some, too) only the one for this machine: all, none, that one.
at=$(place "Select all kits")
[ -n "$at" ] || fail "there are no kits to choose from"
# shellcheck disable=SC2086 # two numbers
xdotool mousemove $at click 1 sleep 0.5 click 1 sleep 0.5 mousemove_relative 0 44 click 1 sleep 0.5
shot kits
click "Configure Project"
sleep 8
xdotool key ctrl+b
for _ in $(seq 1 60); do
    program=$(find "$work" -name till -type f -perm -u+x | head -1)
    [ -z "$program" ] || break
    sleep 1
done
[ -n "$program" ] || fail "the project was not built"
build=$(dirname "$program")
sleep 3
choose 1 menu
until_file "$build/upmu/recording"
sleep 2
choose 3
until_file "$build/upmu/deadlock.tasks"
sleep 3
shot deadlock
choose 2
until_file "$build/upmu/issues.tasks"
sleep 4

# The list of issues has the deadlock, and a double click leads to its line.
xdotool key alt+1 sleep 2
shot issues
at=$(place "deadlock: 2 threads")
[ -n "$at" ] || fail "the deadlock is not in the list of issues"
# shellcheck disable=SC2086 # two numbers
xdotool mousemove $at sleep 0.3 click --repeat 2 --delay 120 1 sleep 3
[ -n "$(place till.c)" ] || fail "a double click on the deadlock does not open the file"
shot line

# The timeline, in the viewer of Qt Creator.
xdotool key alt+a sleep 1
click Chrome
click "Load JSON File"
sleep 1
xdotool type "$build/upmu/timeline.json"
xdotool key Return sleep 6
shot timeline
[ -n "$(place Timeline)" ] || fail "the viewer does not show the timeline"
rm -f "$shots/reading.png"
echo "passed; the screenshots are in $shots"
