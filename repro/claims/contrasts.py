"""Differences in score between settings, with intervals over sentences and seeds."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from repro.claims.bins import MIN_SENTENCES, Bin, into_bins
from repro.claims.checking import CheckedRecords
from repro.claims.endpoints import BLEU, Endpoint
from repro.claims.finding import NotMeasured, Record
from repro.claims.settings import Setting
from repro.records.report import label_of
from repro.statistics.intervals import Estimate, Undefined, estimate
from repro.statistics.noise import SeedNoise, influences_on, variance_between_systems
from repro.statistics.power import Errors
from repro.statistics.resampling import NUM_SAMPLES, scores_of_resamples

Part = tuple[float, Sequence[int] | None]
"""A weight, and the sentences of a test set that it is for; None = all."""
WHOLE: tuple[Part, ...] = ((1.0, None),)


class Contrasts(CheckedRecords):
    """Records of one scale whose translations can be compared; see `RecordsOfScale`."""

    def __init__(self, scale: str, records: Iterable[Record], split: str = "test") -> None:
        super().__init__(scale, records, split)
        self.endpoint = BLEU
        self._views: dict[Endpoint, Self] = {}
        # direction -> systems
        self._several: dict[tuple[str, str], list[tuple[Record, list[np.ndarray]]]] = {}
        self._noises: dict[tuple[Any, ...], SeedNoise | None] = {}
        self._between: dict[tuple[str, str], float] = {}  # the variance between systems

    def by(self, endpoint: Endpoint) -> Self:
        """Return the same evidence, with settings compared by another endpoint than BLEU."""
        if endpoint not in self._views:
            other = self._views[endpoint] = copy(self)
            other.endpoint, other._noises, other._between, other._views = endpoint, {}, {}, {}
            other._several = self._several if endpoint.sums is self.endpoint.sums else {}
        return self._views[endpoint]

    def contrast(
        self,
        terms: Sequence[tuple[float, Setting]],
        sentences: Sequence[int] | None = None,
        comparisons: int = 1,
    ) -> Estimate:
        """Return a weighted sum of the scores of settings, each the mean over its seeds.

        Args:
            terms: weight and setting; all settings translate the same test set.
            sentences: only these sentences of it.
            comparisons: the number of such sums that are looked at together; see `estimate`.

        Raises:
            NotMeasured: a setting has no scores.
        """
        return self._combined(terms, [(1.0, sentences)], comparisons)

    def _combined(
        self,
        terms: Sequence[tuple[float, Setting]],
        parts: Sequence[Part],
        comparisons: int = 1,
    ) -> Estimate:
        """Return a claim's number: a sum over settings, then over parts of the test set."""
        missing = [
            str(setting)
            for _, setting in terms
            if not self._seeds("scores", setting, split=self.split)
        ]
        if missing:
            raise NotMeasured(
                ", ".join(missing), f"not trained at {self.scale}", "repro run trains it"
            )
        if any(sentences is not None for _, sentences in parts):
            self._check_single_sentences()
        score = self.endpoint.score
        value, resampled, scale, counts = 0.0, np.zeros(NUM_SAMPLES), 0.0, []
        for weight, setting in terms:
            seeds = self.seeds(setting)
            counts.append(len(seeds))
            scale += weight**2 / len(seeds)
            for share, sentences in parts:
                for sums in (part_of(self.sums(setting, seed), sentences) for seed in seeds):
                    value += weight * share / len(seeds) * self.endpoint.of(sums)
                    resampled += weight * share / len(seeds) * scores_of_resamples(score, sums)
        noise = self._seed_noise(terms[0][1], parts)
        scaled = noise and noise.times(scale)
        return self._estimate(value, resampled, counts, scaled, comparisons)

    def _estimate(
        self,
        value: float,
        resampled: np.ndarray,
        seeds: Sequence[int],
        noise: SeedNoise | None,
        comparisons: int = 1,
    ) -> Estimate:
        """Return a difference between settings with its interval; see `estimate`.

        Neither sentences nor seeds may be known; then there is no interval.
        """
        unit, over = self.endpoint.unit, self.endpoint.over
        if noise is None and not self.endpoint.by_sentence:
            return Estimate(value, over=over, seeds=(min(seeds), max(seeds)), unit=unit)
        return estimate(value, resampled, seeds, noise, comparisons, unit, over)

    def _seed_noise(self, like: Setting, parts: Sequence[Part]) -> SeedNoise | None:
        """Estimate how much other training seeds would move the number of a claim.

        It is pooled from all systems on the test set of a setting that have several seeds.
        """
        data = like.config(self.scale).data
        weighed = tuple((share, None if of is None else tuple(of)) for share, of in parts)
        key = (data.source, data.target, weighed)
        if key not in self._noises:
            systems = [sums for _, sums in self._with_several_seeds(like)]
            self._noises[key] = SeedNoise.pooled(
                [[self._value(sums, parts) for sums in one] for one in systems],
                [[self._influences(sums, parts) for sums in one] for one in systems],
            )
        return self._noises[key]

    def _value(self, sums: np.ndarray, parts: Sequence[Part]) -> float:
        """Return the weighted sum of the scores of a claim's settings, over parts of a test set."""
        return sum(share * self.endpoint.of(part_of(sums, of)) for share, of in parts)

    def _influences(self, sums: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        """Return how far each test sentence moves the weighted sum of a claim's settings."""
        found = np.zeros(len(sums))
        for share, of in parts:
            inside = slice(None) if of is None else list(of)
            found[inside] += share * influences_on(self.endpoint.score, sums[inside])
        return found

    def planned_errors(self, terms: Sequence[tuple[float, Setting]], seeds: int) -> Errors | None:
        """Return the errors that a contrast has with so many seeds of each setting.

        They are pooled from all systems of the scale that have several seeds, so the settings
        need not have been run. None if there is no such system.

        Args:
            terms: see `contrast`; weights that add up to 0.
            seeds: of each setting.
        """
        noise = self._seed_noise(terms[0][1], WHOLE)
        if noise is None:
            return None
        data = terms[0][1].config(self.scale).data
        direction = (data.source, data.target)
        if direction not in self._between:
            systems = [sums for _, sums in self._with_several_seeds(terms[0][1])]
            influences = [[self._influences(sums, WHOLE) for sums in of] for of in systems]
            self._between[direction] = variance_between_systems(influences, noise.shared)
        weight = sum(weight**2 for weight, _ in terms)
        return Errors(
            math.sqrt(weight * self._between[direction]),
            math.sqrt(weight / seeds * noise.variance),
            noise.degrees,
        )

    def several_seeds(self, like: Setting) -> dict[str, list[np.ndarray]]:
        """Return the systems that show seed-to-seed variation on the test set of a setting.

        Returns:
            By the system's name in tables, the statistics of its sentences for each seed.
        """
        return {label_of(first): sums for first, sums in self._with_several_seeds(like)}

    def _with_several_seeds(self, like: Setting) -> list[tuple[Record, list[np.ndarray]]]:
        """Return (a record, statistics by seed) of every system with several seeds.

        Runs are seeds of one system if all else in their configurations is equal.
        """
        data = like.config(self.scale).data
        direction = (data.source, data.target)
        if direction not in self._several:
            systems = defaultdict(list)
            for record, config in self._at_size_of_scale("scores"):
                if (config.data.source, config.data.target) == direction:
                    systems[config.group_key()].append(record)
            # to know what a record holds, its table is read: not for a system with one seed
            several = [list(filter(self._holds, of)) for of in systems.values() if len(of) > 1]
            self._several[direction] = [
                (found[0], [self._sums_of(record) for record in found])
                for found in several
                if len(found) > 1
            ]
        return self._several[direction]

    def sums(self, setting: Setting, seed: int = 1) -> np.ndarray:
        """Return the statistics of the test sentences of a setting, `(sentences, statistics)`."""
        return self._sums_of(self.scores(setting, seed))

    def _sums_of(self, record: Record, mask: int = 0) -> np.ndarray:
        """Return the statistics of the sentences of a record; `mask` chooses a masked head.

        Raises:
            DamagedFileError: they belong to another version of the corpus, perhaps of the same
                size.
            NotMeasured: the record holds none.
        """
        self._check_text(record)
        sums = self.endpoint.sums(record, mask)
        if sums is None:
            raise NotMeasured(
                f"{self.endpoint.over} of {record['run']}",
                f"not measured at {self.scale}",
                "repro evaluate measures it",
            )
        return sums

    def _holds(self, record: Record) -> bool:
        """Return whether a record holds what the endpoint of the claim needs."""
        return self.endpoint.sums(record, 0) is not None

    def gap_by(
        self, terms: Sequence[tuple[float, Setting]], column: str, edges: Sequence[float]
    ) -> list[tuple[str, int, Estimate]]:
        """Return a contrast of settings on each bin of the test set.

        Args:
            terms: see `contrast`.
            column: the length that sorts sentences into bins; see `lengths`.
            edges: see `into_bins`.

        Returns:
            For every bin its name, its number of sentences, and the contrast.
        """
        found = self.bins(terms[0][1], column, edges)
        return [(name, len(inside), self.contrast(terms, inside)) for name, _, inside in found]

    def trend(
        self,
        terms: Sequence[tuple[float, Setting]],
        column: str | Sequence[float],
        edges: Sequence[float],
        weigh: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> Estimate:
        """Return a trend for a claim: a sum over the bins of `gap_by`, resampled within bins.

        Args:
            terms, column, edges: see `gap_by`.
            weigh: (mean number, number of sentences) of the bins, `(num_bins,)` each -> their
                weights, `(num_bins,)`: a slope, or last minus first.

        Raises:
            NotMeasured: a setting has no scores.
            Undefined: the test set is too small for two bins.
        """
        bins = self.bins(terms[0][1], column, edges)
        if len(bins) < 2:
            raise Undefined(f"the test set is too small for two bins of {MIN_SENTENCES} sentences")
        weights = weigh(
            np.array([mean for _, mean, _ in bins]),
            np.array([len(inside) for _, _, inside in bins]),
        )
        return self._combined(
            terms,
            [(float(weight), inside) for weight, (_, _, inside) in zip(weights, bins, strict=True)],
        )

    def bins(
        self, setting: Setting, column: str | Sequence[float], edges: Sequence[float]
    ) -> list[Bin]:
        """Return the bins of the test set of a setting, by a length or by numbers of its sentences.

        See `into_bins`.

        Raises:
            NotMeasured: the endpoint is not known of single sentences.
        """
        self._check_single_sentences()
        numbers = self.lengths(setting, column) if isinstance(column, str) else column
        return into_bins(numbers, edges)

    def _check_single_sentences(self) -> None:
        """Refuse bins of a test set as evidence where single sentences are unmeasured.

        Raises:
            NotMeasured: the endpoint is not known of single sentences.
        """
        if not self.endpoint.by_sentence:
            raise NotMeasured(
                f"single sentences of {self.endpoint.over}",
                f"not measured at {self.scale}",
                "repro evaluate measures those of the test set",
            )


def part_of(sums: np.ndarray, sentences: Sequence[int] | None) -> np.ndarray:
    """Return the statistics of the sentences in a bin of a claim; None = of all."""
    return sums if sentences is None else sums[list(sentences)]
