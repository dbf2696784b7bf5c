"""Make the site: a folder of pages that any host can serve."""

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from repro.page.page import page_html
from repro.runs import gallery
from website.links import problems
from website.sources import write_sources

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "site"
CAPTIONS = "multi30k-base"  # the model of the landing page
TRANSLATORS = {"translator.html": [CAPTIONS], "translators.html": None}
"""Pages with models, by name; None is the whole gallery."""


def main() -> int:
    """Write the site into `build/site/html`; return 1 if a page is wrong, and say why."""
    shutil.rmtree(BUILD, ignore_errors=True)
    write_sources(ROOT, BUILD / "sources")
    write_translators(BUILD / "translators")
    out = BUILD / "html"
    arguments = ["-b", "html", "-c", str(ROOT / "website"), "-d", str(BUILD / "doctrees")]
    strict = ["-W", "--keep-going", "-q", "-j", "auto"]
    if build_main([*arguments, *strict, str(BUILD / "sources"), str(out)]):
        return 1
    found = problems(out, may_be_large=TRANSLATORS)
    print("\n".join(found) or f"{out / 'index.html'}")
    return bool(found)


def write_translators(folder: Path) -> None:
    """Write the pages with models into a folder."""
    folder.mkdir(parents=True)
    others = sorted(name for name in gallery.names() if name != CAPTIONS)
    for name, models in TRANSLATORS.items():
        runs = {model: gallery.load(model) for model in models or [CAPTIONS, *others]}
        (folder / name).write_text(page_html(runs, ROOT / "results"), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
