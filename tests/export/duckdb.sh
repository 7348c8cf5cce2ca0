# SPDX-License-Identifier: MIT
# The format `arrow` read by Apache Arrow, and the questions of the guide answered by DuckDB, where node finds both.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
node -e 'require.resolve("apache-arrow"); require.resolve("@duckdb/node-api")' 2>/dev/null ||
    skip "node does not find both packages (npm install -g apache-arrow @duckdb/node-api, NODE_PATH)"
"$UPMU" record -e task-clock,page-faults -o "$work/scene" -- "$SCENE" </dev/null >/dev/null 2>"$work/record" || fail "recording ended with $?"
expect 0 "$UPMU" export -f arrow -o "$work/scene.arrow" "$work/scene"
expect 0 node "$HERE/duckdb.mjs" "$HERE/../../docs/guide/columns.md" "$work/rows.parquet" "$work/scene.arrow"
has out "10 queries answered"
finish
