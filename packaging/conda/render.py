# SPDX-License-Identifier: BSD-3-Clause
"""Renders recipe.yaml for every row of variants.yaml and says what would be built; ends with 1 where
the recipe and the tree differ. Run by prove.sh, in a venv that has rattler-build.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rattler_build import Stage0Recipe, VariantConfig

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# conda-forge's names of what pyproject.toml names otherwise
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def wanted() -> set[str]:
    """What the Python package needs, in conda-forge's words."""
    text = (ROOT / "pyproject.toml").read_text()
    block = re.search(r"^dependencies = \[(.*?)\]", text, re.M | re.S).group(1)
    pairs = re.findall(r'"([\w-]+)(>=[\w.]+)"', block)
    return {f"{CONDA_NAMES.get(name, name)} {bound}" for name, bound in pairs}


def main() -> int:
    version = re.search(r"project\(nuice VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    recipe = Stage0Recipe.from_file(HERE / "recipe.yaml")
    problems = []
    mpis = set()
    for rendered in recipe.render(VariantConfig.from_file(HERE / "variants.yaml")):
        made = rendered.recipe
        name = str(made.package.name)
        print(f"{name} {made.package.version} {made.build.string}")
        if str(made.package.version) != version:
            problems.append(f"{name} has version {made.package.version}, the tree {version}")
        run = {str(one) for one in made.requirements.run}
        if name == "libnuice":
            mpis |= run
        elif missing := wanted() - run:
            problems.append(f"{name} does not need {sorted(missing)}, pyproject.toml does")
    if not {"openmpi", "mpich"} <= mpis:
        problems.append(f"it was rendered for {sorted(mpis)} only")
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
