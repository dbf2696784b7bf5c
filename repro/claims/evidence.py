"""The evidence for claims: the records of a scale, differences of scores, and effects of masks."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from repro.claims.contrasts import part_of
from repro.claims.endpoints import BLEU
from repro.claims.finding import NotMeasured, Record
from repro.claims.paired import PairedRuns
from repro.claims.settings import Setting
from repro.statistics.intervals import Estimate, estimate
from repro.statistics.noise import SeedNoise, influences_on
from repro.statistics.resampling import NUM_SAMPLES, bleu_of_resamples, bleu_of_sums

__all__ = ["Evidence", "NotMeasured", "Record"]


class Evidence(PairedRuns):
    """The evidence at one scale; see `RecordsOfScale` for its arguments."""

    def masked(
        self,
        setting: Setting,
        head: str,
        sentences: Sequence[int] | None = None,
        comparisons: int = 1,
    ) -> Estimate:
        """Return the BLEU that a setting loses when one head is masked in all encoder layers.

        It is the mean over the seeds with such records.

        Args:
            setting: trained without the mask.
            head: its number, from 1.
            sentences: only these sentences of the test set.
            comparisons: the number of such costs that are looked at together; see `estimate`.

        Raises:
            NotMeasured: there is no such record.
        """
        return self._masked([(1.0, setting, head)], sentences, comparisons)

    def masked_difference(
        self, first: tuple[Setting, str], second: tuple[Setting, str], comparisons: int = 1
    ) -> Estimate:
        """Return how much more BLEU one masked head costs than another, over the same sentences.

        Args:
            first, second: setting and number of the head, see `masked`.
            comparisons: the number of such differences that are looked at together; see `estimate`.

        Raises:
            NotMeasured: there is no record of one of them.
        """
        return self._masked([(1.0, *first), (-1.0, *second)], None, comparisons)

    def _masked(
        self,
        terms: Sequence[tuple[float, Setting, str]],
        sentences: Sequence[int] | None,
        comparisons: int = 1,
    ) -> Estimate:
        """Return a weighted sum of the costs of masks, over seeds with records of all settings."""
        seeds = self.shared_seeds(["masks"], [setting for _, setting, _ in terms], split=self.split)
        value, resampled = 0.0, np.zeros(NUM_SAMPLES)
        for weight, setting, head in terms:
            for record in (self.one("masks", setting, seed, split=self.split) for seed in seeds):
                whole, masked = (part_of(sums, sentences) for sums in self._mask_sums(record, head))
                value += weight / len(seeds) * (BLEU.of(whole) - BLEU.of(masked))
                resampled += (
                    weight / len(seeds) * (bleu_of_resamples(whole) - bleu_of_resamples(masked))
                )
        noises = [self._mask_noise(setting, head, sentences) for _, setting, head in terms]
        noise = SeedNoise.weighted([weight / len(seeds) ** 0.5 for weight, *_ in terms], noises)
        return estimate(value, resampled, [len(seeds)], noise, comparisons)

    def _mask_noise(
        self, like: Setting, head: str, sentences: Sequence[int] | None
    ) -> SeedNoise | None:
        """Estimate the seed-to-seed variation of a mask's cost on a setting's test set."""
        data = like.config(self.scale).data
        costs: dict[str, list[float]] = defaultdict(list)
        influences: dict[str, list[np.ndarray]] = defaultdict(list)
        for record, config in self._at_size_of_scale("masks"):
            of = config.data
            if (of.source, of.target) == (data.source, data.target) and head in record["masks"]:
                whole, masked = (part_of(sums, sentences) for sums in self._mask_sums(record, head))
                costs[config.group_key()].append(BLEU.of(whole) - BLEU.of(masked))
                influences[config.group_key()].append(
                    influences_on(bleu_of_sums, whole) - influences_on(bleu_of_sums, masked)
                )
        return SeedNoise.pooled(costs.values(), influences.values())

    def _mask_sums(self, record: Record, head: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the BLEU statistics of the translations without and with a mask."""
        return self._sums_of(record), self._sums_of(record, int(head))
