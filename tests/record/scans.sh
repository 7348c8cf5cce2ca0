# SPDX-License-Identifier: MIT
# What `upmu record` reads while the command runs: nothing of other processes, and soon nothing of those that have ended.
. "$(dirname "$0")/lib.sh"
command -v strace >/dev/null || skip "strace is not installed"
strace -o calls true 2>/dev/null || skip "strace may not trace here"

# shellcheck disable=SC2016
strace -e trace=openat -o calls "$UPMU" record -o r -- bash -c 'for i in 1 2 3 4 5; do bash -c :; done; exec sleep 3' 2>err ||
    fail "the recording failed: $(cat err)"
grep -q '\.live"' calls || fail "strace has seen no search for deadlocks"
! grep -E '"/proc", |"/proc/[0-9]+/status"' calls || fail "it searched other processes"
# The command's directory, and that of the shell that it has replaced, are read in each search.
grep -oE '"[^"]*/\.?[^"/]+-[0-9]+-[0-9.]+", [^)]*O_DIRECTORY' calls | sort | uniq -c >directories
[ "$(wc -l <directories)" -ge 7 ] || fail "strace has not seen the directories: $(cat directories)"
[ "$(awk '$1 > 20' directories | wc -l)" -le 2 ] || fail "it reads those of ended processes again and again: $(cat directories)"
