# SPDX-License-Identifier: MIT
# The live page of upmu top --serve in Chromium.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
browser || skip "no Chromium is installed"
axe=$(axe)
python3 "$HERE/live.py" "$UPMU" "$SCENE" "$CORPUS" "$work" ${axe:+"$axe"} || fail "the live page is wrong"
[ -z "${KEEP-}" ] || cp "$work"/*.png "$KEEP"
finish
