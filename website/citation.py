"""Write the page on how to cite, from `CITATION.cff`."""

from pathlib import Path
from typing import Any

import yaml


def citation(path: Path) -> str:
    """Return the page in Markdown: this suite and its papers, each as a line and as BibTeX."""
    cff = yaml.safe_load(path.read_text(encoding="utf-8"))
    parts = ["# How to cite\n", f"{cff['message']}\n", "## This suite\n", *_entry(cff, "software")]
    parts.append("## The papers\n")
    for paper in cff["references"]:
        parts += _entry(paper, "inproceedings")
    parts.append("The same for programs: [CITATION.cff](CITATION.cff).\n")
    return "\n".join(parts)


def _entry(work: dict[str, Any], kind: str) -> list[str]:
    people = [_name(author) for author in work["authors"]]
    year, venue = work.get("year"), work.get("conference", {}).get("name")
    told = [f"{', '.join(people)}{f' ({year})' if year else ''}. *{work['title']}*"]
    told += [venue] if venue else [f"Version {work['version']}"]
    line = ". ".join(told).replace("?*. ", "?* ") + "."
    if "url" in work:
        line += f" <{work['url']}>"
    fields = {
        # braces: BibTeX would take the last word of a group for a family name
        "author": " and ".join(
            f"{{{person}}}" if "name" in author else person
            for person, author in zip(people, work["authors"], strict=True)
        ),
        "title": f"{{{work['title']}}}",
        "booktitle": venue,
        "year": year,
        "version": work.get("version"),
        "url": work.get("url"),
    }
    is_group = "name" in work["authors"][0]
    called = work["title"].partition(":")[0] if is_group else people[0].split()[-1]
    key = called.lower() + str(year or "")
    written = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return [f"{line}\n", f"```bibtex\n@{kind}{{{key},\n{written}}}\n```\n"]


def _name(author: dict[str, str]) -> str:
    return author.get("name") or f"{author['given-names']} {author['family-names']}"
