# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.python import PythonPipBuilder

from spack.package import *


class Nuice(CMakePackage):
    """Plans irregular exchanges of MPI programs: checked, contention-free, reusable schedules."""

    # The source is the archive of RELEASING.md, in the folder from which spack is called. Not published
    # yet: the publisher adds homepage, the archive's address as url, maintainers, and the sha256.
    homepage = "https://example.org/nuice"
    url = f"file://{os.getcwd()}/nuice-0.3.0.tar.gz"

    license("BSD-3-Clause", checked_by="nuice")

    # version("0.3.0", sha256=...)  # sha256sum nuice-0.3.0.tar.gz

    variant("mpi", default=True, description="Exchanges on MPI; without it the planner only")
    variant("ucx", default=False, when="+mpi", description="Active messages by UCX")
    variant("fortran", default=True, when="+mpi", description="The Fortran module, as source")
    variant("tools", default=True, when="+mpi", description="nuice-bench and the other programs")
    variant("python", default=False, description="The Python package, without partitioning")

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
        depends_on("fftw@3:")
        depends_on("random123", type="build")
    with when("+python"):
        extends("python")
        depends_on("python@3.10:", type=("build", "run"))
        depends_on("py-pip", type="build")
        depends_on("py-scikit-build-core@0.10:", type="build")
        depends_on("py-nanobind@2.4:", type="build")
        depends_on("py-jinja2@3.1:", type="run")
        depends_on("py-matplotlib@3.8:", type="run")
        depends_on("py-mpi4py@4:", type="run", when="+mpi")
        depends_on("py-numpy@1.26:", type="run")
        depends_on("py-rich@13.7:", type="run")
        depends_on("py-scipy@1.11:", type="run")
        depends_on("py-typer@0.20:", type="run")

    conflicts("%gcc@:10", msg="C++20 is needed")
    conflicts("%clang@:13", msg="C++20 is needed")

    def cmake_args(self):
        args = [
            self.define_from_variant("NUICE_BUILD_MPI", "mpi"),
            self.define("NUICE_BUILD_TOOLS", self.spec.satisfies("+tools")),
            self.define("NUICE_BUILD_AM", True),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_ucx", not self.spec.satisfies("+ucx")),
        ]
        if self.spec.satisfies("+mpi"):
            args.append(self.define("MPI_CXX_COMPILER", self.spec["mpi"].mpicxx))
        return args

    # What is installed already is not compiled again; nuice.mpi finds libnuice in the prefix.
    @run_after("install", when="+python")
    def install_python(self):
        with working_dir(self.stage.source_path):
            pip(
                *PythonPipBuilder.std_args(self),
                f"--config-settings=cmake.define.NUICE_PREBUILT={self.prefix}",
                f"--prefix={self.prefix}",
                ".",
            )

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        if self.spec.satisfies("+python+mpi"):
            env.set("NUICE_LIBRARY", join_path(self.spec.prefix.lib, "libnuice.so.1"))
