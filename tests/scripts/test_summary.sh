#!/usr/bin/env bash
# Passed, failed and skipped tests in scripts/junit-summary.awk, from JUnit files of ctest.
set -euo pipefail

summary=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(outcomes NONE)
enable_testing()
add_test(NAME good COMMAND sh -c "echo '<all> is \"well\" & done'")
add_test(NAME bad COMMAND sh -c "echo broken; exit 3")
add_test(NAME skipped COMMAND sh -c "echo before; echo 'skipped, because <this> & \"that\" is missing'; exit 77")
add_test(NAME silent COMMAND sh -c "exit 77")
add_test(NAME partly COMMAND sh -c "echo 'x: skipped, because of one half'")
add_test(NAME absent COMMAND ./there-is-no-such-program)
add_test(NAME slow COMMAND sleep 30)
add_test(NAME crash COMMAND sh -c "kill -SEGV $$")
set_tests_properties(good bad skipped silent partly PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(slow PROPERTIES TIMEOUT 1)
END
cmake -S "$dir" -B "$dir/build" -G Ninja >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
ctest --test-dir "$dir/build" --output-junit "$dir/junit.xml" >"$dir/log" 2>&1 || true

printf '%s\t%s\t%s\n' \
    passed good '' \
    failed bad 'see its output above' \
    skipped skipped '<this> & "that" is missing' \
    failed silent 'it was skipped without saying "skipped, because ..."' \
    passed partly '' \
    partly partly 'of one half' \
    failed absent 'Unable to find executable' \
    failed slow 'see its output above' \
    failed crash 'see its output above' | sed 's/\t$//' | LC_ALL=C sort >"$dir/expected"
awk -f "$summary" "$dir/junit.xml" | LC_ALL=C sort >"$dir/found"
diff -u "$dir/expected" "$dir/found"
