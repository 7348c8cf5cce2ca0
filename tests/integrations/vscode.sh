# SPDX-License-Identifier: MIT
# The extension of Visual Studio Code with a stand-in for the editor and the real server. The editor's own test harness downloads an
# editor, which a test of this suite does not.
# shellcheck shell=bash source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
command -v node >/dev/null || skip "node is not installed (Debian: nodejs)"
tsc=${TSC:-$SOURCE/build/npm/node_modules/.bin/tsc}
[ -x "$tsc" ] || skip "tsc is not installed (scripts/deps.sh test, with npm; or TSC=.../tsc)"
mkdir -p "$work/data" "$work/bindings" "$work/integrations"
cp -r "$SOURCE/data/texts" "$work/data/"
cp -r "$SOURCE/bindings/typescript" "$work/bindings/"
cp -r "$SOURCE/integrations/vscode" "$work/integrations/"
TSC=$tsc node "$work/integrations/vscode/build.js" >"$work/out" 2>&1 || fail "the extension is not built: $(tail -n 5 "$work/out")"
expect 0 cc -g -pthread -o "$work/till" "$SOURCE/integrations/qtcreator-plugin/test/demo/till.c"
mkdir "$work/run"
UPMU=$UPMU TILL=$work/till XDG_RUNTIME_DIR=$work timeout 280 node "$work/integrations/vscode/test/test.js" "$work/run" ||
    fail "the extension ended with $?"
finish
