# SPDX-License-Identifier: BSD-3-Clause
"""The committed pages of the API are those that the headers, the Fortran module and the docstrings give."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("api_reference", ROOT / "tools/api_reference.py")
assert SPEC and SPEC.loader
api_reference = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(api_reference)


@pytest.mark.parametrize("name", api_reference.MADE_PAGES)
def test_the_page_is_current(name: str) -> None:
    if name == "api-python.md":
        pytest.importorskip("mpi4py")
        if sys.version_info[:2] != (3, 11):
            pytest.skip("other versions of Python print other signatures")
    made = api_reference.MADE_PAGES[name]()
    committed = (ROOT / "docs/reference" / name).read_text(encoding="utf-8")
    assert made == committed, "run: .venv/bin/python tools/api_reference.py"


def test_no_public_name_of_c_is_missing() -> None:
    page = api_reference.c_page()
    header = (ROOT / "include/nuice/nuice.h").read_text(encoding="utf-8")
    names = set(api_reference.re.findall(r"^NUICE_API [^;]*?(nuice_\w+)\(", header, api_reference.re.M))
    assert {name for name in names if not name.endswith("_f") and f"### `{name}`" not in page} == set()


def test_no_section_of_c_is_missing() -> None:
    page = api_reference.c_page()
    header = (ROOT / "include/nuice/nuice.h").read_text(encoding="utf-8")
    titles = api_reference.re.findall(r"^/\* ---- (.*?)(?:: | -|\n)", header, api_reference.re.M)
    assert len(titles) > 5
    assert [title for title in titles if f"\n## {title}" not in page] == []
    assert "## Replacing an MPI call\n\n```c\nnuice_request x;\n" in page


def test_items_of_cpp_are_found() -> None:
    header = """
/// A class.
class Thing {
 public:
  /// Not collective. The number of
  /// items, so far.
  int size(int rank,
           int most = {}) const { return 1; }
  /// Internal.
  void run();
 private:
  /// Hidden.
  void hidden();
};
/// Makes one.
template <typename T>
Thing make(T&& from);
"""
    found = [item[:2] for item in api_reference.cpp_items(header)]
    assert found == [
        ("Thing", ""),
        ("Thing", "int size(int rank, int most = {}) const"),
        ("", "template <typename T> Thing make(T&& from)"),
    ]


def test_a_comment_that_goes_on_belongs_to_the_member_before_it() -> None:
    header = """
struct Costs {
  double start_up_s = 0;  ///< Time of the start,
                          ///< in seconds.
  double byte_s =
      1;  ///< Time of a byte,
          ///< in seconds.
  double hop_s = 0;  ///< Time of a hop.
};
enum class Way {
  near,  ///< A short way
         ///< to go.
  far    ///< A long way.
};
"""
    said = {item[1]: api_reference.words_of(item[2]).split("\n") for item in api_reference.cpp_items(header)}
    assert said == {
        "": [""],
        "double start_up_s = 0": ["Time of the start,", "in seconds."],
        "double byte_s = 1": ["Time of a byte,", "in seconds."],
        "double hop_s = 0": ["Time of a hop."],
        "near": ["A short way", "to go."],
        "far": ["A long way."],
    }
