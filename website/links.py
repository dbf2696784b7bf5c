"""Check the pages of a built site: links, sizes, and the words of pictures."""

import re
from collections.abc import Collection, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MOST = 2_000_000  # letters of a page, those of the models that it holds apart
_MODEL = re.compile(r"(data-model=[^>]*?(?:>|&gt;))[\w+/=]+")


class _Page(HTMLParser):
    """What a page links to, what it loads, the names in it that a link can end at, and pictures
    without words for those who do not see them."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.names: set[str] = set()
        self.wordless: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value is not None}
        self.names |= {found[name] for name in ("id", "name") if name in found}
        if "href" in found:
            (self.loaded if tag == "link" else self.links).append(found["href"])
        if "src" in found:
            self.loaded.append(found["src"])
        if tag == "img" and found.get("alt", "") in ("", found.get("src")):
            self.wordless.append(found.get("src", ""))


def problems(folder: Path, may_be_large: Collection[str] = ()) -> list[str]:
    """Return a line for each link that leads nowhere, each picture without words, and each page
    that is too large.

    Pages load nothing from other machines; links may lead there, and are not followed.

    Args:
        folder: of the site.
        may_be_large: names of pages of any size.
    """
    # what the theme keeps beside its scripts is no page
    paths = sorted(path for path in folder.rglob("*.html") if "_static" not in path.parts)
    pages = {path: _Page(path) for path in paths if path.name not in may_be_large}
    found = [
        f"{path.relative_to(folder)}: larger than {MOST / 1e6:.0f} MB"
        for path in pages
        if len(_MODEL.sub(r"\1", path.read_text(encoding="utf-8"))) > MOST
    ]
    for path, page in pages.items():
        for link in _broken(path, page, pages):
            found.append(f"{path.relative_to(folder)}: {link}")
        for picture in page.wordless:
            found.append(f"{path.relative_to(folder)}: {picture} has no words")
    return found


def _broken(path: Path, page: _Page, pages: dict[Path, _Page]) -> Iterator[str]:
    for link in page.loaded:
        if urlsplit(link).netloc:
            yield f"loads {link} from another machine"
    for link in dict.fromkeys(page.links + page.loaded):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_file():
            yield f"{link} is not there"
        elif target in pages and parts.fragment and parts.fragment not in pages[target].names:
            yield f"{link} names no place in {target.name}"
