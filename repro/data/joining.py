"""Join several corpora into one, with a mixed dev and test set and the test sets of its parts."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from repro.data.parallel import MAIN_SPLITS, ParallelCorpus, Split

SAMPLE = 500
"""Pairs of each part in the mixed dev set, and in the mixed test set: no part outweighs another."""


def join_corpora(name: str, parts: Mapping[str, ParallelCorpus]) -> ParallelCorpus:
    """Return one corpus of several in the same languages; leaks between them are still in it.

    Train holds all pairs of all parts, in their order. Dev and test hold `SAMPLE` pairs of each
    part, evenly spaced. The test set of a part is also there as a whole, as ``test_PART``; its
    further test sets keep their names.

    Args:
        name: of the joined corpus.
        parts: the corpora by the name that their test sets get.
    """
    parts = {part_name: _with_own_names(part_name, part) for part_name, part in parts.items()}
    splits = {
        "train": _concatenate(part.splits["train"] for part in parts.values()),
        **{
            split: _concatenate(_sample(part.splits[split]) for part in parts.values())
            for split in ("dev", "test")
        },
    }
    for part_name, part in parts.items():
        splits[f"test_{part_name}"] = part.splits["test"]
        splits |= {
            split: further for split, further in part.splits.items() if split not in MAIN_SPLITS
        }
    first = next(iter(parts.values()))
    return ParallelCorpus(
        name,
        first.languages,
        splits,
        [skip for part in parts.values() for skip in part.skipped],
        notes=[f"{part_name}: {note}" for part_name, part in parts.items() for note in part.notes],
    )


def _with_own_names(name: str, part: ParallelCorpus) -> ParallelCorpus:
    """Return a part with its name before the names of its files: two may have a train.tsv."""
    splits = {
        split: replace(
            pairs,
            names={
                language: [f"{name}/{file}" for file in files]
                for language, files in pairs.names.items()
            },
        )
        for split, pairs in part.splits.items()
    }
    skipped = [replace(skip, file=f"{name}/{skip.file}") for skip in part.skipped]
    return replace(part, splits=splits, skipped=skipped)


def _concatenate(splits: Iterable[Split]) -> Split:
    """Return the pairs of several splits, one after another."""
    splits = list(splits)

    def joined(field: str) -> dict[str, list]:
        return {
            language: [item for split in splits for item in getattr(split, field)[language]]
            for language in splits[0].columns
        }

    return Split(joined("columns"), joined("numbers"), joined("names"))


def _sample(split: Split) -> Split:
    """Return `SAMPLE` evenly spaced pairs of a split, or all if it has fewer."""
    size = min(SAMPLE, len(split))
    return split.select([place * len(split) // size for place in range(size)])
