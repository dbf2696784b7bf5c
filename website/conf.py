"""Settings of Sphinx for the site; `python -m website` runs it."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

project = "repro"
author = "The repro authors"
html_title = "repro"
extensions = ["myst_nb", "website.mathml", "website.pictures"]

# Pages show what is saved in the notebooks; nothing runs.
nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # CommonMark, the default, has no tables
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

exclude_patterns = ["README.md"]  # the landing page has the part of it that is generated

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = [str(ROOT / "build" / "site" / "translators")]
html_sidebars = {"index": [], "cite": []}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "repro"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navigation_depth": 2,
    # The button with words has another name for those who hear it than for those who see it.
    "navbar_persistent": [],
    "navbar_end": ["search-button", "theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "primary_sidebar_end": [],
    "article_header_start": [],
}
