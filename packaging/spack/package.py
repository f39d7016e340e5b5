# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)
#
# Draft for spack-packages: repos/spack_repo/builtin/packages/nuice/package.py. Not run: there was no Spack where it was
# written. Fill in homepage, url, maintainers and the sha256 of the archive.

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Nuice(CMakePackage):
    """Plans irregular exchanges of MPI programs: checked, contention-free, reusable schedules."""

    homepage = "https://example.org/nuice"
    url = "https://example.org/nuice/archive/v0.2.0.tar.gz"

    maintainers()

    license("BSD-3-Clause", checked_by="nuice")

    # version("0.2.0", sha256=...)

    variant("mpi", default=True, description="Exchanges on MPI; without it the planner only")
    variant("ucx", default=False, when="+mpi", description="Active messages by UCX")
    variant("fortran", default=True, when="+mpi", description="The Fortran module, which is installed as source")
    variant("tools", default=True, when="+mpi", description="nuice-bench and the other programs")
    variant("python", default=False, description="The Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")

    depends_on("cmake@3.20:", type="build")
    depends_on("zlib-api")
    depends_on("fmt")
    depends_on("nlohmann-json", type="build")
    depends_on("tomlplusplus", type="build")
    depends_on("mpi@3.1:", when="+mpi")
    depends_on("ucx", when="+ucx")
    with when("+tools"):
        depends_on("cli11", type="build")
        depends_on("metis")
        depends_on("fftw~mpi")
        depends_on("random123", type="build")
    with when("+python"):
        extends("python")
        depends_on("python@3.10:", type=("build", "run"))
        depends_on("py-pip", type="build")
        depends_on("py-scikit-build-core", type="build")
        depends_on("py-nanobind@2.4:", type="build")
        depends_on("py-numpy", type=("build", "run"))
        depends_on("py-mpi4py@4:", type=("build", "run"), when="+mpi")

    conflicts("%gcc@:10", msg="C++20 is needed")
    conflicts("%clang@:14", msg="C++20 is needed")

    def cmake_args(self):
        return [
            self.define_from_variant("NUICE_BUILD_MPI", "mpi"),
            self.define_from_variant("NUICE_BUILD_TOOLS", "tools"),
            self.define("NUICE_BUILD_TESTS", False),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_ucx", not self.spec.satisfies("+ucx")),
        ]

    @run_after("install", when="+python")
    def install_python(self):
        pip("install", "--no-deps", "--no-build-isolation", f"--prefix={self.prefix}", ".")

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python+mpi"):
            env.set("NUICE_LIBRARY", join_path(self.prefix.lib, "libnuice.so.1"))
