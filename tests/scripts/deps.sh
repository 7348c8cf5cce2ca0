#!/usr/bin/env bash
# scripts/deps.sh asks apt for what is missing only, once, and names what cannot be had and what to do about it.
# shellcheck disable=SC2086 # lists of packages are words
set -euo pipefail

deps=$1
unset UPMU_SKIP_DEPS
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin"

fail()
{
    echo "FAILED: $*" >&2
    [ ! -f "$dir/out" ] || cat "$dir/out" >&2
    exit 1
}

# A system made of files: `installed` and `known` list packages, `log` has what apt-get was asked, `uid` who we are.
for tool in bash env sed grep cat; do
    ln -s "$(command -v "$tool")" "$dir/bin/$tool"
done
cat >"$dir/bin/dpkg-query" <<END
#!$dir/bin/bash
grep -qx -- "\${@: -1}" "$dir/installed" && printf installed
END
cat >"$dir/bin/apt-cache" <<END
#!$dir/bin/bash
grep -qx -- "\$2" "$dir/known" && printf '%s:\n  Candidate: 1.0\n' "\$2" || printf '%s:\n  Candidate: (none)\n' "\$2"
END
cat >"$dir/bin/apt-get" <<END
#!$dir/bin/bash
echo "\$*" >>"$dir/log"
for word in "\$@"; do
    case \$word in install) take=1 ;; -*) ;; *) [ "\${take-}" != 1 ] || echo "\$word" >>"$dir/installed" ;; esac
done
END
cat >"$dir/bin/id" <<END
#!$dir/bin/bash
cat "$dir/uid"
END
cat >"$dir/bin/sudo" <<END
#!$dir/bin/bash
echo sudo >>"$dir/log"
exec "\$@"
END
chmod +x "$dir"/bin/{dpkg-query,apt-cache,apt-get,id,sudo}

# system UID PACKAGE...: a fresh system in which these packages are installed and all others can be had
build_packages=$(sed -n 's/^build_packages=(\(.*\))$/\1/p' "$deps")
others=${build_packages/cmake ninja-build/}
[ "$others" != "$build_packages" ] || fail "cmake and ninja-build, which are taken away below, are not asked for"
system()
{
    echo "$1" >"$dir/uid"
    shift
    printf '%s\n' "$@" >"$dir/installed"
    printf '%s\n' $build_packages >"$dir/known"
    : >"$dir/log"
}

run()
{
    status=0
    PATH=$dir/bin "$dir/bin/bash" "$deps" "$@" >"$dir/out" 2>&1 || status=$?
}

system 0 $build_packages
run build
[ $status -eq 0 ] || fail "with everything there it failed"
[ ! -s "$dir/log" ] || fail "apt was asked although nothing was missing: $(cat "$dir/log")"

system 0 $others
run build
[ $status -eq 0 ] || fail "it could not install what was missing"
grep -q 'install --no-install-recommends cmake ninja-build$' "$dir/log" || fail "apt was asked: $(cat "$dir/log")"
[ "$(grep -c update "$dir/log")" -eq 1 ] || fail "apt-get update was not run exactly once"
! grep -q sudo "$dir/log" || fail "root used sudo"

system 1000 $others
run build
[ $status -eq 0 ] && grep -q sudo "$dir/log" || fail "a user with sudo could not install"

mv "$dir/bin/sudo" "$dir/bin/sudo-away"
system 1000 $others
run build
[ $status -ne 0 ] || fail "without root and sudo it continued"
grep -q 'apt-get install --no-install-recommends cmake ninja-build' "$dir/out" || fail "the line to run is not shown"
[ ! -s "$dir/log" ] || fail "apt was asked without the right to"
mv "$dir/bin/sudo-away" "$dir/bin/sudo"

system 0 $others
grep -vx ninja-build "$dir/known" >"$dir/known.new" && mv "$dir/known.new" "$dir/known"
run build
[ $status -ne 0 ] || fail "it continued without a package that no source has"
grep -q 'has: ninja-build$' "$dir/out" || fail "the package that cannot be had is not named"

rm "$dir/bin/apt-get"
system 0 gcc
run build
[ $status -ne 0 ] && grep -q 'not a Debian system' "$dir/out" || fail "another system than Debian is not recognized"
UPMU_SKIP_DEPS=1 run build
[ $status -eq 0 ] || fail "UPMU_SKIP_DEPS=1 does not continue"

run everything
[ $status -eq 2 ] || fail "a purpose that does not exist gave status $status"
