# SPDX-License-Identifier: MIT
# The timeline's canvas at random zooms: each pixel shows the state of the thread that the data gives for its time.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
browser || skip "no Chromium is installed"
sched=--sched
"$UPMU" record --sched -o "$work/try" -- true >/dev/null 2>&1 || sched=
record scene -m all ${sched:+"$sched"} -- "$SCENE"
record crowd -m all ${sched:+"$sched"} -- "$CROWD" 6 4000
record dense -m all ${sched:+"$sched"} -- "$CROWD" 30 4000
python3 "$HERE/pixels.py" "$work" scene crowd dense || fail "the timeline differs from the data"
finish
