# SPDX-License-Identifier: MIT
# The accessibility rules of axe-core, which scripts/deps.sh installs where npm is there; or AXE has the path of its axe.min.js.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
browser || skip "no Chromium is installed"
axe=$(axe)
[ -n "$axe" ] || skip "axe-core is not installed (scripts/deps.sh test, with npm; or AXE=.../axe.min.js)"
record crowd -m all -e task-clock -F 999 -- "$CROWD" 6 3000
expect 0 "$UPMU" report --html "$work/both.html" --diff "$work/crowd" "$work/crowd"
stuck cross_normal
python3 "$HERE/axe.py" "$axe" "$work" crowd both cross_normal || fail "axe-core finds violations"
finish
