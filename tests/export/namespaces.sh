# SPDX-License-Identifier: MIT
# Processes of two pid namespaces that have the same ids at the same time stay apart in exports and in the JSON report.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
apart="unshare --pid --fork"
$apart true 2>/dev/null || skip "this user may not make pid namespaces"
# Each program waits until both have recorded events.
cat >"$work/both.sh" <<'END'
mkfifo ready go
exec 3<>ready 4<>go
unshare --pid --fork "$1" <&4 >&3 &
unshare --pid --fork "$1" <&4 >&3 &
read -r _ <&3 && read -r _ <&3
echo >&4
echo >&4
wait
END
(cd "$work" && "$UPMU" record -m all -o both -- bash both.sh "$TWIN") >/dev/null 2>"$work/record" || fail "recording ended with $?"
expect 0 "$UPMU" report --json "$work/both"
cp "$work/out" "$work/both.json"
for format in chrome perfetto folded firefox jsonl csv arrow; do
    expect 0 "$UPMU" export -f "$format" -o "$work/both.$format" "$work/both"
done
PYTHONDONTWRITEBYTECODE=1 python3 "$HERE/namespaces.py" "$work/both" || fail "processes of two namespaces are mixed"
finish
