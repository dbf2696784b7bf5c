"""Finds sentences of a held-out split that stand in another split too, and makes a split that has none."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from repro.data.characters import normalise

Columns = Mapping[str, Sequence[str]]

# A group of pairs that hang together through shared sides goes to dev or test only if it is no
# larger than this: larger ones are
# stock phrases ("Come on!") with dozens of translations, and one of them could fill a test set.
MAX_HELD_OUT_GROUP = 4


@dataclass(frozen=True)
class Overlap:
    """How many pairs of a held-out split are in another split.

    Args:
        held_out: the split whose pairs are counted.
        other: the split they are also in.
        exact: pairs found letter by letter.
        normalised: further pairs found when case, punctuation and spacing are ignored.
        one_side: by language, further pairs of which only this side is found (normalised), with
            another translation.
        first: indices (held-out, other) of the first pair found, of the worst kind that occurs.
        kind: what that first pair is: ``exact``, ``normalised``, or the language of the side found.
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
        return f"{self.held_out} in {self.other}: {self.exact} exact, {self.normalised} normalised, one side {sides}"


@dataclass
class SentenceIndex:
    """Where each sentence and each pair of a split stands first; made once and asked about many splits.

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
        self.exact_at = _first_places(zip(*self.columns.values(), strict=True))
        self.pair_at = _first_places(zip(*self.folded.values(), strict=True))
        self.side_at = {language: _first_places(column) for language, column in self.folded.items()}

    def find(self, exact: tuple[str, ...], folded: tuple[str, ...]) -> dict[str, int]:
        """Return where a pair, given as it is and folded, is found, by the worst kind that it is; sides are counted by language."""
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


def without_overlap(index: SentenceIndex, held: Iterable[SentenceIndex]) -> list[int]:
    """Return the places of the pairs of which no side, normalised, occurs in any of the held-out splits."""
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
    """Cut pairs into train, dev and test so that no sentence, normalised, of either language is in two of them.

    Pairs that share a side are joined into groups, through any number of steps, and a group is
    never cut. Groups go to test, then to dev, in the order of a hash of their texts until the
    wanted number is reached, the rest to train: the result depends on the texts and on which
    language comes first, not on the order of the pairs. So each direction has a split of its own,
    and what is test for one may be train for the other. Each split is ordered by hash too, since
    files are often sorted by length.

    Returns:
        indices by split.
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
    """Return for each place a number that is equal for places connected through equal texts in a column (union-find)."""
    parent = list(range(len(columns[0])))

    def find(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    for column in columns:
        first = _first_places(column)
        for place, text in enumerate(column):
            parent[find(place)] = find(first[text])
    return [find(place) for place in range(len(parent))]


def _first_places(items: Iterable[Hashable]) -> dict[Hashable, int]:
    places: dict[Hashable, int] = {}
    for place, item in enumerate(items):
        places.setdefault(item, place)
    return places
