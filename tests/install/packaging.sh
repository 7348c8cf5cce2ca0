#!/usr/bin/env bash
# packaging.sh TREE BUILD SOURCE LIBDIR: CPack's packages, the rpm spec and Spack's recipe have what is installed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tree=$1 build=$2 source=$3 libdir=$4
version=$(header_version "$tree")
(cd "$tree" && find . ! -type d | sed 's,^\.,,' | LC_ALL=C sort) >"$scratch/files"
[ "$(wc -l <"$scratch/files")" -ge 100 ] || fail "only $(wc -l <"$scratch/files") files are installed"

# The installed tree as CPack packs it.
generators=TGZ
# The other two, with the shared libraries they depend on, take ten times as long: UPMU_ALL_PACKAGES=1.
[ -z "${UPMU_ALL_PACKAGES-}" ] || generators="TGZ;DEB;RPM"
(cd "$scratch" && cpack --config "$build/CPackConfig.cmake" -G "$generators" -B "$scratch/packages" -D CPACK_INSTALL_CMAKE_PROJECTS= \
    -D "CPACK_INSTALLED_DIRECTORIES=$tree;." -D CPACK_PACKAGE_FILE_NAME=archive) >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "cpack"; }
tar -tzf "$scratch/packages/archive.tar.gz" | grep -v '/$' | sed 's,^archive,,' | LC_ALL=C sort >"$scratch/packed"
diff "$scratch/files" "$scratch/packed" || fail "the archive differs from what is installed"
! grep -q 'not stripped' < <(file "$build/lib/libupmu.so") ||
    tar -xOzf "$scratch/packages/archive.tar.gz" "archive/$libdir/libupmu.so.$version" >"$scratch/stripped"
[ ! -s "$scratch/stripped" ] || ! grep -q '\.debug_info' < <(readelf -SW "$scratch/stripped") || fail "the archive has debug information"
for deb in "$scratch"/packages/*.deb; do
    [ -e "$deb" ] || continue
    depends=$(dpkg-deb -f "$deb" Depends)
    [[ $depends = *"libc6 (>= "* && $depends = *libdw1* ]] || fail "DEB depends on: $depends"
done
for rpm in "$scratch"/packages/*.rpm; do
    [ -e "$rpm" ] || continue
    rpm -qp --requires "$rpm" >"$scratch/requires" 2>/dev/null
    grep -q 'libdw.so.1' "$scratch/requires" || fail "RPM requires: $(cat "$scratch/requires")"
    rpm -qpl "$rpm" >"$scratch/rpm" 2>/dev/null
    grep -q "/$libdir/libupmu.so.$version\$" "$scratch/rpm" || fail "RPM has: $(cat "$scratch/rpm")"
done

# Each installed file is in one package of the spec.
grep -q "^Version: *$version\$" "$source/packaging/libupmu.spec" || fail "the spec is of another version than $version"
if command -v rpmspec >/dev/null; then
    define=(--define "_libdir /usr/$libdir" --define '_prefix /usr' --define '_mandir /usr/share/man')
    rpmspec -P "${define[@]}" "$source/packaging/libupmu.spec" >"$scratch/spec" 2>"$scratch/err" || { cat "$scratch/err"; fail "the spec"; }
    [ "$(rpmspec -q --qf '%{name}\n' "${define[@]}" "$source/packaging/libupmu.spec" 2>/dev/null | xargs)" = \
        "libupmu libupmu-devel upmu-tools python3-upmu libupmu-doc" ] || fail "packages of the spec"
    python3 - "$scratch/spec" "$scratch/files" <<'PYTHON' || fail "files of the spec"
import fnmatch, re, sys
sections = re.split(r"^%files.*$", open(sys.argv[1]).read(), flags=re.M)[1:]
patterns = [[p for p in re.findall(r"^(/\S+)$", s, re.M)] for s in sections]
used = set()
for file in ["/usr" + line for line in open(sys.argv[2]).read().split()]:
    owners = [i for i, all in enumerate(patterns) if any(fnmatch.fnmatch(file, p) or file.startswith(p + "/") for p in all)]
    used |= {p for all in patterns for p in all if fnmatch.fnmatch(file, p) or file.startswith(p + "/")}
    # libNAME.so* of the library is cut by .so of the development files
    assert len(owners) == 1, (file, owners)
unused = {p for all in patterns for p in all} - used
assert all("python" in p for p in unused), unused  # the Python package is installed on demand
PYTHON
else
    echo "without rpmspec the spec is not read (Debian: rpm)"
fi

# Spack's recipe, executed with stand-ins of its directives: options that CMake has, and versions that agree. CMakePackage is where
# it was before Spack 1.0 ("old"), and where it is since ("new").
for spack in old new; do
    python3 - "$source" "$version" "$spack" <<'PYTHON' || fail "Spack's recipe, with the modules of the $spack Spack"
import re, sys, types
source, version, spack = sys.argv[1:]
seen = {"variant": [], "version": [], "depends_on": []}
package = types.ModuleType("spack.package")
for name in ("license", "maintainers", "version", "variant", "depends_on", "extends", "conflicts"):
    setattr(package, name, lambda *a, _n=name, **k: seen.setdefault(_n, []).append((a, k)))


class CMakePackage:
    def define(self, name, value):
        return f"-D{name}={value}"

    def define_from_variant(self, name, variant):
        assert variant in [a[0] for a, k in seen["variant"]], variant
        return f"-D{name}=ON"


sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), package
if spack == "old":
    package.CMakePackage = CMakePackage
else:
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems", "spack_repo.builtin.build_systems.cmake"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["spack_repo.builtin.build_systems.cmake"].CMakePackage = CMakePackage
scope = {}
exec(open(source + "/packaging/spack/package.py").read(), scope)
recipe = scope["Libupmu"]()


class Spec:
    version = types.SimpleNamespace(up_to=lambda n: "3.11")
    satisfies = lambda self, what: what == "+python"
    __getitem__ = lambda self, name: self


recipe.spec = Spec()
args = recipe.cmake_args()
options = "".join(open(source + "/" + f).read() for f in ("CMakeLists.txt", "cmake/install.cmake"))
for arg in args:
    name = re.match(r"-D(\w+)=", arg).group(1)
    assert re.search(rf"(option|set)\({name} ", options), name
assert args[-1] == "-DUPMU_PYTHON_DIR=lib/python3.11/site-packages", args
assert seen["version"][0][0][0] == version, seen["version"]
assert {"elfutils", "zlib-api", "ncurses"} <= {a[0] for a, k in seen["depends_on"]}
PYTHON
done
echo "packages: $(cd "$scratch/packages" && echo *.*)"
