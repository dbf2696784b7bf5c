"""Find sentences of a held-out split that also occur in another split; make splits without them."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from repro.data.characters import normalise

Columns = Mapping[str, Sequence[str]]

# Only groups of connected pairs up to this size go to dev or test. Larger ones are stock phrases
# ("Come on!") with dozens of translations; a single one could fill a test set.
MAX_HELD_OUT_GROUP = 4


@dataclass(frozen=True)
class Overlap:
    """Counts of the pairs of a held-out split that also occur in another split.

    Args:
        held_out: the split whose pairs are counted.
        other: the split in which they also occur.
        exact: pairs found letter by letter.
        normalised: further pairs found when case, punctuation and spacing are ignored.
        one_side: by language, further pairs with only this side found (normalised), where the
            other split has another translation.
        first: indices (held-out, other) of the first pair found, of the worst kind that occurs.
        kind: kind of that pair: ``exact``, ``normalised``, or the language of the side found.
    """

    held_out: str
    other: str
    exact: int
    normalised: int
    one_side: Mapping[str, int]
    first: tuple[int, int]
    kind: str

    def __str__(self) -> str:
        sides = (
            ", ".join(f"{number} {language}" for language, number in self.one_side.items()) or "0"
        )
        return (
            f"{self.held_out} in {self.other}: {self.exact} exact, {self.normalised} normalised, "
            f"one side {sides}"
        )


@dataclass
class SentenceIndex:
    """Index of the first place of each sentence and each pair of a split.

    Args:
        columns: the sentences by language.
    """

    columns: Columns
    folded: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.folded = {
            language: [normalise(text) for text in column]
            for language, column in self.columns.items()
        }
        self.exact_at = _first_positions(zip(*self.columns.values(), strict=True))
        self.pair_at = _first_positions(zip(*self.folded.values(), strict=True))
        self.side_at = {
            language: _first_positions(column) for language, column in self.folded.items()
        }

    def find(self, exact: tuple[str, ...], folded: tuple[str, ...]) -> dict[str, int]:
        """Return the place of a pair by the worst kind of match: the pair, else each known side.

        Args:
            exact: the texts of the pair.
            folded: the same texts, normalised.
        """
        if exact in self.exact_at:
            return {"exact": self.exact_at[exact]}
        if folded in self.pair_at:
            return {"normalised": self.pair_at[folded]}
        sides = zip(self.side_at.items(), folded, strict=True)
        return {language: places[side] for (language, places), side in sides if side in places}


def find_overlap(
    held_out: str, held: SentenceIndex, other: str, index: SentenceIndex
) -> Overlap | None:
    """Count the pairs of one split that are in another, or return None if there are none."""
    counts: Counter[str] = Counter()
    first: dict[str, tuple[int, int]] = {}
    pairs = zip(
        zip(*held.columns.values(), strict=True),
        zip(*held.folded.values(), strict=True),
        strict=True,
    )
    for place, (exact, folded) in enumerate(pairs):
        for kind, other_place in index.find(exact, folded).items():
            counts[kind] += 1
            first.setdefault(kind, (place, other_place))
    if not first:
        return None
    kind = next(kind for kind in ("exact", "normalised", *held.columns) if kind in first)
    one_side = {language: counts[language] for language in held.columns if counts[language]}
    return Overlap(
        held_out, other, counts["exact"], counts["normalised"], one_side, first[kind], kind
    )


def pairs_without_overlap(index: SentenceIndex, held: Iterable[SentenceIndex]) -> list[int]:
    """Return the indices of pairs neither side of which, normalised, occurs in a held-out split."""
    held = list(held)
    known = {
        language: {side for one in held for side in one.folded[language]}
        for language in index.folded
    }
    pairs = zip(*index.folded.values(), strict=True)
    return [
        place
        for place, pair in enumerate(pairs)
        if not any(side in sides for side, sides in zip(pair, known.values(), strict=True))
    ]


def leak_free_split(columns: Columns, num_dev: int, num_test: int) -> dict[str, list[int]]:
    """Cut pairs into train, dev and test that share no sentence, normalised, of either language.

    Pairs that share a side are joined into groups, through any number of steps; a group is never
    cut. Groups go to test, then to dev, in the order of a hash of their texts, until the wanted
    number is reached. The rest goes to train. So the result depends on the texts and on which
    language comes first, not on the order of the pairs. Each direction has its own splits: test
    pairs of one may be train pairs of the other. Each split is ordered by hash, because files are
    often sorted by length.

    Returns:
        Indices by split.
    """
    folded = [[normalise(text) for text in column] for column in columns.values()]
    hashes = [
        blake2b("\t".join(pair).encode(), digest_size=8).digest()
        for pair in zip(*columns.values(), strict=True)
    ]
    groups: dict[int, list[int]] = {}
    for place, group in enumerate(_group_by_shared_side(folded)):
        groups.setdefault(group, []).append(place)
    chosen: dict[str, list[int]] = {"train": [], "dev": [], "test": []}
    wanted = {"test": num_test, "dev": num_dev}

    def group_hash(group: list[int]) -> bytes:
        return blake2b(b"".join(sorted(hashes[place] for place in group)), digest_size=8).digest()

    for group in sorted(groups.values(), key=group_hash):
        open_splits = [split for split, number in wanted.items() if len(chosen[split]) < number]
        chosen[
            open_splits[0] if open_splits and len(group) <= MAX_HELD_OUT_GROUP else "train"
        ].extend(group)
    return {
        split: sorted(places, key=lambda place: hashes[place]) for split, places in chosen.items()
    }


def _group_by_shared_side(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return a group number for each place; equal texts in a column connect places (union-find)."""
    parent = list(range(len(columns[0])))

    def find(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    for column in columns:
        first = _first_positions(column)
        for place, text in enumerate(column):
            parent[find(place)] = find(first[text])
    return [find(place) for place in range(len(parent))]


def _first_positions(items: Iterable[Hashable]) -> dict[Hashable, int]:
    """Return the index of the first occurrence of each item."""
    places: dict[Hashable, int] = {}
    for place, item in enumerate(items):
        places.setdefault(item, place)
    return places
