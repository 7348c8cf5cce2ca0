# SPDX-License-Identifier: MIT
# Long names of C++ are shortened in the middle on a terminal, to fit its lines; in a pipe and with --wide they are whole.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

# on_terminal COLUMNS COMMAND...: its output to a terminal of that width
on_terminal()
{
    python3 - "$@" <<'PYTHON'
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
out = b""
try:
    while data := os.read(terminal, 65536):
        out += data
except OSError:
    pass  # the end of a terminal
sys.stdout.buffer.write(out.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PYTHON
}

expect 0 "$UPMU" record -o "$work/rec" -- "$BIN/identity_locks_O0"
whole='contend<void \(\*\)\(\)>\(void \(\*\)\(\)\)::\{lambda\(\)#1\}::operator\(\)\(\) const locks.cpp:'
short='^        contend<.*\.\.\..* locks.cpp:[0-9]+$'
"$UPMU" report "$work/rec" >"$work/pipe" || fail "upmu report"
grep -Eq "$whole" "$work/pipe" || fail "no whole name in a pipe"
on_terminal 70 "$UPMU" report "$work/rec" >"$work/narrow" || fail "upmu report on a terminal"
grep -Eq "$short" "$work/narrow" || fail "no name is shortened: $(grep -m3 contend "$work/narrow")"
on_terminal 40 "$UPMU" report "$work/rec" >"$work/phone" || fail "upmu report on a small terminal"
! grep -Eq 'acquired at .{25}' "$work/pipe" || grep -Eq 'acquired at [^ ]*\.\.\.' "$work/phone" ||
    fail "a holder's name is not shortened: $(grep -m3 "acquired at" "$work/phone")"
! grep -E "^        [^ ].* locks.cpp:[0-9]+$" "$work/narrow" | grep -E '^.{71}' || fail "a frame is wider than the terminal"
on_terminal 70 "$UPMU" report --wide "$work/rec" >"$work/wide" || fail "upmu report --wide"
grep -Eq "$whole" "$work/wide" || fail "no whole name with --wide"
on_terminal 400 "$UPMU" report "$work/rec" >"$work/broad" || fail "upmu report on a broad terminal"
cmp "$work/pipe" "$work/broad" || fail "a broad terminal shows something else than a pipe"
finish
