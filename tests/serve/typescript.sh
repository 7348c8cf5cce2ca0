# SPDX-License-Identifier: MIT
# The TypeScript client: it compiles without a complaint, and does what the Python client does. Environment: TYPESCRIPT, its folder.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
command -v node >/dev/null || skip "node is not installed (Debian: nodejs)"
export work
tsc=${TSC-$(command -v tsc)}
[ -n "$tsc" ] || skip "tsc is not installed (Debian: node-typescript; npm: typescript)"
types=$(find "${tsc%/*}/../@types" "${tsc%/*}/../../@types" /usr/share/nodejs/@types -maxdepth 1 -name node 2>/dev/null | head -n 1)
cp "$TYPESCRIPT/upmu.ts" "$work/upmu.ts"
cd "$work" || exit 1
"$tsc" --strict --noUnusedLocals --noUnusedParameters --target es2020 --module commonjs --outDir out ${types:+--typeRoots "${types%/node}" --types node} \
    upmu.ts >tsc.out
if [ -n "$types" ]; then
    [ ! -s tsc.out ] || fail "tsc: $(cat tsc.out)"
else
    # Without Node's types only their absence may be reported.
    echo "without @types/node the types are not checked"
    ! grep -q "error TS1" < <(grep -v "TS2307\|TS2580\|TS7006\|TS2304\|TS7016" tsc.out) || fail "tsc: $(cat tsc.out)"
fi
[ -s out/upmu.js ] || fail "tsc wrote nothing: $(cat tsc.out)"
CLIENT=$work/out/upmu.js timeout 250 node "$HERE/typescript.js" || fail "the client ended with $?"
finish
