# SPDX-License-Identifier: BSD-3-Clause
# The settings of Sphinx; docs/generate.py makes the pages and calls it.
project = "NUICE"
author = copyright = "the authors of NUICE"
extensions = ["myst_parser", "sphinx_copybutton"]
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
