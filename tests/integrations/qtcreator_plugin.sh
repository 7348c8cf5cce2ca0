# SPDX-License-Identifier: MIT
# The plugin of Qt Creator is built with Qt, and its client and views pass their tests with the real server.
# shellcheck shell=bash source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

# Not optimized, without the web view, and in few large files: Qt's headers take most of the time of a compiler. The build of
# scripts/qtcreator.sh has none of that.
if ! cmake -S "$PLUGIN" -B "$BUILD" -DUPMU_WERROR=ON -DUPMU_QTCREATOR_WEB=OFF -DUPMU_CREATOR_VERSION=9.0.2 \
    -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_BUILD_TYPE= -DCMAKE_UNITY_BUILD=ON >"$work/log" 2>&1; then
    grep 'Qt[56]' "$work/log" >/dev/null || fail "CMake: $(tail -n 5 "$work/log")"
    skip "the headers of Qt are not installed (qt6-base-dev)"
fi
cmake --build "$BUILD" --parallel 2 --target upmu_ide_test upmu_qtcreator >"$work/log" 2>&1 || fail "the plugin is not built: $(grep -m 5 error "$work/log")"
[ -e "$BUILD/plugin/libUpmuConcurrency.so" ] || fail "there is no plugin"
expect 0 cc -g -pthread -o "$work/till" "$PLUGIN/test/demo/till.c"
UPMU_TILL=$work/till UPMU=$UPMU XDG_RUNTIME_DIR=$work timeout 250 "$BUILD/upmu_ide_test" >"$work/out" 2>&1 ||
    fail "$(grep -A 4 -E '^FAIL' "$work/out" | head -n 20)"
[ "$(grep -c 'Totals: .* 0 failed, 0 skipped' "$work/out")" -eq 3 ] || fail "not all tests ran: $(grep Totals "$work/out")"
finish
