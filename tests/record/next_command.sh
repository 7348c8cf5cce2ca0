# SPDX-License-Identifier: MIT
# The command that a summary ends with works as it is printed, whatever the name of the recording is.
. "$(dirname "$0")/lib.sh"
PATH=$(dirname "$UPMU"):$PATH
export LC_ALL=C.UTF-8

# next_command NAME: runs what `err` has behind "next: ", and it reports on NAME.
next_command() {
    local command
    command=$(sed -n 's/^upmu: .*; next: //p' err)
    (eval "$command") >report 2>report.err || fail "'$command' of '$1': $(cat report.err)"
    [ -s report ] || fail "'$command' of '$1' prints nothing"
}

# recorded NAME [WORD]: records to NAME, which the command has as WORD, if that is given.
recorded() {
    expect 0 "$UPMU" record -o "$1" -- "$WORKER" 3
    [ -d "$1" ] || fail "no directory '$1': $(ls)"
    [ "$(wc -l <err)" -eq 1 ] || fail "more than one line: $(cat err)"
    [ -z "${2-}" ] || has err "; next: upmu report $2"
    next_command "$1"
}
recorded plain.name_1 plain.name_1
recorded 记录 记录
recorded "Ada's notes" "'Ada'\\''s notes'"
recorded -dash ./-dash
# shellcheck disable=SC2016,SC2088
recorded '~ $HOME `id` "quoted" \n*#;&'
recorded $'line\ntab\t\'quote\' \\ \xff \u202e' "\$'line\\012tab\\011\\'quote\\' \\\\ \\377 \\342\\200\\256'"

begin -o r
expect 0 "$UPMU" ctl r snapshot "the snapshot's"
next_command "the snapshot's"
finish_worker
finish
