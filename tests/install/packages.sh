# SPDX-License-Identifier: MIT
# The Debian packages: built with their symbols checked, without a finding of lintian, installed and used in a fresh system.
# packages.sh SOURCE DIR; DEB_CACHE_DIR: folder that keeps the fresh system for later runs.
set -euo pipefail
source=$1 dir=$2
cache=${DEB_CACHE_DIR:-$dir/system}
for program in dh dh_python3 fakeroot lintian mmdebstrap; do # before anything is built
    command -v $program >/dev/null ||
        { echo "skipped, because $program is not installed (Debian: debhelper dh-python fakeroot lintian mmdebstrap)"; exit 77; }
done
# Compiled in a sixth of the time; what is looked at here does not depend on it.
export UPMU_CMAKE_OPTIONS=-DUPMU_FOLDERS_AT_ONCE=ON
export DEB_CFLAGS_APPEND="-O0 -g1 -U_FORTIFY_SOURCE" DEB_CXXFLAGS_APPEND="-O0 -g1 -U_FORTIFY_SOURCE"
"$source/scripts/deb.sh" build "$dir"
"$source/scripts/deb.sh" lint "$dir"
begin=$SECONDS
"$source/scripts/deb.sh" try "$dir" "$cache"
echo "in a fresh system: $((SECONDS - begin)) s"
