# SPDX-License-Identifier: BSD-3-Clause
# The settings of Sphinx; docs/generate.py makes the pages and calls it.
import builtins
import re
import sys

from docutils import nodes

project = "NUICE"
author = copyright = "the authors of NUICE"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["extra"]
html_theme = "furo"
html_title = "NUICE"
html_extra_path = ["extra"]
html_static_path = ["site.css"]
html_css_files = ["site.css"]
smartquotes = False  # --option
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 4  # as GitHub has them
myst_links_external_new_tab = True
pygments_style = "default"

# The Python API: docstrings are plain text, so what stands apart in them, indented, is shown as it is.
import mpi4py  # noqa: E402  before nuice.mpi, which autodoc imports

mpi4py.rc.initialize = False  # nothing is exchanged here
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_display_short_literal_types = True
python_use_unqualified_type_names = True
add_module_names = False
python_maximum_signature_line_length = 100


def as_plain_text(app, what, name, thing, options, lines):
    """Paragraphs without markup, indented lines as blocks of code."""
    if what == "data":  # a number has int's
        lines.clear()
    text, block = [], False
    for line in lines:
        if of_type := re.fullmatch(r"\(self\) -> (.*)", line):  # the extension's properties without words
            text.append(f"``{of_type[1].replace('nuice._core.', '')}``")
            continue
        indented = line.startswith(" ") and bool(line.strip())
        if indented and not block:
            text += ["", "::", ""]
        elif block and line.strip() and not indented:
            text.append("")
        block = indented or (block and not line.strip())
        text.append(f"    {line}" if indented else re.sub(r"([\\`*_|])", r"\\\1", line))
    lines[:] = text


def name_types(app, doctree):
    """A type in a signature is Python's own, or that of its module: nuice and nuice.mpi both have a Plan."""
    for link in list(doctree.findall(lambda node: node.tagname == "pending_xref")):
        target = link["reftarget"]
        if hasattr(builtins, target):
            link.replace_self(nodes.Text(target))
        for module in (link.get("py:module"), "nuice"):
            if target in getattr(sys.modules.get(module), "__all__", ()):
                link["reftarget"] = f"{module}.{target}"
                break


def setup(app):
    app.connect("doctree-read", name_types)
    app.connect("autodoc-process-docstring", as_plain_text)
