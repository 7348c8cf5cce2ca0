# SPDX-License-Identifier: MIT
"""Spack's recipe. In a repository of one's own: packages/libupmu/package.py; `spack install libupmu +python`."""
try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage  # Spack 1.0 and later
except ImportError:
    pass  # before, it is one of the names of spack.package
from spack.package import *


class Libupmu(CMakePackage):
    """Performance counters by vendor-neutral names, regions, and lock tracing of multi-threaded programs."""

    license("MIT", checked_by="libupmu")
    maintainers("libupmu")

    # A release has its url and sha256 here; until then: spack dev-build libupmu@0.2.0, in the tree.
    version("0.2.0")

    variant("analysis", default=True, description="libupmu_analysis and the upmu command")
    variant("python", default=False, when="+analysis", description="The Python package")

    depends_on("c", type="build")
    depends_on("cmake@3.13:", type="build")
    depends_on("python@3.8:", type="build")
    depends_on("elfutils", when="+analysis")
    depends_on("zlib-api", when="+analysis")
    depends_on("ncurses", when="+analysis")
    depends_on("python@3.8:", type="run", when="+python")
    extends("python", when="+python")
    conflicts("platform=darwin", msg="libupmu needs Linux")
    conflicts("platform=windows", msg="libupmu needs Linux")

    def cmake_args(self):
        args = [
            self.define("UPMU_BUILD_TESTS", False),
            self.define("UPMU_BUILD_EXAMPLES", False),
            self.define("UPMU_BUILD_BENCH", False),
            self.define_from_variant("UPMU_BUILD_ANALYSIS", "analysis"),
            self.define_from_variant("UPMU_BUILD_TOOLS", "analysis"),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("UPMU_PYTHON_DIR", python_platlib_below(self.spec)))
        return args


def python_platlib_below(spec):
    """Where the interpreter looks for packages, below the prefix."""
    version = spec["python"].version.up_to(2)
    return "lib/python{0}/site-packages".format(version)
