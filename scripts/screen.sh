#!/usr/bin/env bash
# A virtual screen with a window manager, for scripts that drive a program with windows. To be sourced; the caller ends the
# processes in the array screen_jobs.

screen_jobs=()

# open_screen WIDTHxHEIGHT: starts it and exports DISPLAY. Status 1 if there is no free display.
open_screen()
{
    local number
    for number in $(seq 77 97); do
        [ ! -e "/tmp/.X11-unix/X$number" ] || continue
        Xvfb ":$number" -screen 0 "$1x24" >/dev/null 2>&1 &
        screen_jobs+=($!)
        export DISPLAY=:$number
        for _ in $(seq 1 100); do
            [ ! -e "/tmp/.X11-unix/X$number" ] || break
            sleep 0.1
        done
        openbox >/dev/null 2>&1 &
        screen_jobs+=($!)
        return 0
    done
    return 1
}
