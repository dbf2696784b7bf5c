"""Find the result records of a scale by the setting that they belong to."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from repro.claims.bins import MIN_SENTENCES, Bin, into_bins
from repro.claims.pooling import AND, pooled
from repro.claims.settings import Setting, has_size_of_scale
from repro.core.config import RunConfig, from_dict
from repro.errors import DamagedFileError, ReproError
from repro.measures.heads import RELEVANCE_SENTENCES
from repro.presets import SCALES
from repro.records.report import label_of
from repro.records.schema import kind_of
from repro.records.stored import group_key, search_of
from repro.records.translations import hypotheses_of, statistics_of
from repro.runs.naming import scale_of
from repro.statistics.intervals import Estimate, SeedNoise, estimate
from repro.statistics.resampling import NUM_SAMPLES, bleu_of_resamples, bleu_of_sums

Record = dict[str, Any]


class NotMeasured(ReproError):
    """No record holds the requested number: what is missing, and the command that measures it."""


class Evidence:
    """Records of one scale.

    Args:
        scale: its name.
        records: of any kind and scale. Records of other settings only serve to estimate
            seed-to-seed variation: see `has_size_of_scale`.
        split: the test set of the scores; several, joined by `AND`, are taken as one (see
            `pooled`).
    """

    def __init__(self, scale: str, records: Iterable[Record], split: str = "test") -> None:
        self.scale, self.split = scale, split
        self._kinds: dict[str, list[Record]] = defaultdict(list)
        # kind and configuration -> seed
        self._groups: dict[tuple[str, str], dict[int, list[Record]]] = {}
        # direction -> systems
        self._several: dict[tuple[str, str], list[tuple[Record, list[np.ndarray]]]] = {}
        self._texts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        sets = split.split(AND)
        for record in records if len(sets) == 1 else pooled(records, sets):
            kind = kind_of(record)
            # All settings are compared under one search.
            if kind != "scores" or not search_of(record):
                self._kinds[kind].append(record)
                of_group = self._groups.setdefault((kind, group_key(record)), {})
                of_group.setdefault(record["config"]["train"]["seed"], []).append(record)

    def find(self, kind: str, setting: Setting, seed: int = 1, **values: Any) -> list[Record]:
        """Return the records of a kind and setting whose keys have the given values."""
        found = self._by_seed(kind, setting).get(seed, [])
        return [record for record in found if _has(record, values)]

    def _by_seed(self, kind: str, setting: Setting) -> dict[int, list[Record]]:
        return self._groups.get((kind, setting.config(self.scale).group_key()), {})

    def all(self, kind: str) -> list[Record]:
        """Return all records of a kind from this scale and this test set, if any."""
        corpus = SCALES[self.scale].data.corpus
        found = [
            record
            for record in self._kinds[kind]
            if record["config"]["data"]["corpus"] == corpus
            and record.get("split", self.split) == self.split
        ]
        if sum(scale.data.corpus == corpus for scale in SCALES.values()) == 1:
            return found  # no other scale to tell apart
        return [
            record
            for record in found
            if scale_of(from_dict(RunConfig, record["config"])) == self.scale
        ]

    def check_measured(self, kind: str, setting: Setting) -> None:
        """Refuse records of a setting that were measured on other text, or on part of it.

        Raises:
            DamagedFileError: of another version of the corpus, or of fewer sentences than `repro
                run` measures on.
        """
        for record in (
            record
            for seed in self._seeds(kind, setting)
            for record in self.find(kind, setting, seed)
        ):
            self._check_text(record)
            self._check_whole(record)

    def _check_text(self, record: Record) -> None:
        """Refuse a record whose corpus version or references differ from those of most records."""
        if not self._texts:
            for about, text in (
                found
                for records in self._kinds.values()
                for one in records
                for found in _texts_of(one)
            ):
                self._texts[about][text] += 1
        for about, text in _texts_of(record):
            if text != self._texts[about].most_common(1)[0][0]:
                corpus = record["config"]["data"]["corpus"]
                what = f"is of another version of {corpus} than other records"
                raise DamagedFileError(
                    record["run"], what, "keep records of one version in a folder, or run it again"
                )

    def _check_whole(self, record: Record) -> None:
        """Refuse a record that was measured, from Python, on part of a split.

        Kinds without a split have other text.
        """
        kind = kind_of(record)
        if kind == "heads":
            measured = record["measured"]
            total = measured["sentences_of_split"]
            for_relevance = min(RELEVANCE_SENTENCES, total)
            is_whole = (
                record["split"],
                measured["sentences"],
                measured["relevance_sentences"],
            ) == ("dev", total, for_relevance)
            what = (
                f"was not measured on all {total:,} sentences of dev, "
                f"{for_relevance} of them for relevance"
            )
        elif kind in ("masks", "off_diagonal"):
            of_sentences = [hypotheses_of(record)] if kind == "masks" else record["shares"].values()
            total = self._size_of(record)
            is_whole = all(len(found) == total for found in of_sentences)
            what = f"was not measured on all {total:,} sentences of {record['split']}"
        else:
            return
        if not is_whole:
            raise DamagedFileError(
                f"{record['run']} {kind}",
                what,
                "delete the record: repro run makes it of all of them",
            )

    def _size_of(self, record: Record) -> int:
        """Return the number of sentences in the test set of a record.

        Raises:
            NotMeasured: no run was scored on it.
        """
        data = record["config"]["data"]
        for scored in self.all("scores"):
            of = scored["config"]["data"]
            if (of["source"], of["target"], scored["split"]) == (
                data["source"],
                data["target"],
                record["split"],
            ):
                return scored["sentences"]
        raise NotMeasured(
            f"scores on {record['split']}", f"not measured at {self.scale}", "repro run makes them"
        )

    def inexact(self) -> dict[str, list[str]]:
        """Return how scored runs deviate from their configuration, by run: device, code or text."""
        return {
            record["run"]: notes
            for record in self.all("scores")
            if (notes := record["provenance"].get("inexact"))
        }

    def _at_size_of_scale(self, kind: str) -> Iterator[tuple[Record, RunConfig]]:
        found = ((record, from_dict(RunConfig, record["config"])) for record in self.all(kind))
        return ((record, config) for record, config in found if has_size_of_scale(config))

    def one(self, kind: str, setting: Setting, seed: int = 1, **values: Any) -> Record:
        """Return the first such record.

        Raises:
            NotMeasured: there is none.
        """
        found = self.find(kind, setting, seed, **values)
        if not found:
            raise NotMeasured(
                f"{kind} of {setting}, seed {seed}",
                f"not measured at {self.scale}",
                "repro run makes it",
            )
        return found[0]

    def having(self, kind: str, settings: Sequence[Setting]) -> list[Setting]:
        """Return the settings that have a record of a kind.

        Raises:
            NotMeasured: none has.
        """
        found = [setting for setting in settings if self.find(kind, setting)]
        if not found:
            raise NotMeasured(
                f"{kind} of {', '.join(map(str, settings))}",
                f"not measured at {self.scale}",
                "repro run makes it",
            )
        return found

    def scored(self, settings: Sequence[Setting]) -> list[Setting]:
        """Return the settings that have scores of any seed on this test set.

        Raises:
            NotMeasured: none has.
        """
        found = [
            setting for setting in settings if self._seeds("scores", setting, split=self.split)
        ]
        if not found:
            raise NotMeasured(
                ", ".join(map(str, settings)), f"not trained at {self.scale}", "repro run trains it"
            )
        return found

    def seeds(self, setting: Setting) -> list[int]:
        """Return the seeds for which a setting has scores.

        Raises:
            NotMeasured: it has none.
        """
        return self._seeds("scores", self.scored([setting])[0], split=self.split)

    def shared_seeds(
        self, kinds: Sequence[str], settings: Sequence[Setting], **values: Any
    ) -> list[int]:
        """Return the seeds for which every setting has such records, all made after one training.

        Without such a seed it is the first: asking for its records then names what is missing.
        """
        several = set.intersection(
            *(set(self._seeds(kind, setting, **values)) for kind in kinds for setting in settings)
        )
        return [
            seed
            for seed in sorted(several)
            if all(self.share_training(kinds, setting, seed) for setting in settings)
        ] or [1]

    def share_training(
        self, kinds: Sequence[str], setting: Setting, seed: int, **values: Any
    ) -> bool:
        """Whether records of several kinds belong to the same training of a run, by its start time.

        A run that is not on this machine is trained again for a further measure, and another
        processor gives other heads.
        """
        return (
            len(kinds) == 1
            or len(
                {self.one(kind, setting, seed, **values)["provenance"]["started"] for kind in kinds}
            )
            == 1
        )

    def _seeds(self, kind: str, setting: Setting, **values: Any) -> list[int]:
        by_seed = self._by_seed(kind, setting)
        return sorted(
            seed for seed, found in by_seed.items() if any(_has(record, values) for record in found)
        )

    def scores(self, setting: Setting, seed: int = 1) -> Record:
        """Return the score record of a setting on this test set."""
        return self.one("scores", setting, seed, split=self.split)

    def lengths(self, setting: Setting, column: str) -> list[int]:
        """Return the lengths of the test sentences; `sentences.LENGTHS` lists the columns."""
        return self.scores(setting, self.seeds(setting)[0])["tables"]["references"][column].tolist()

    def contrast(
        self, terms: Sequence[tuple[float, Setting]], sentences: Sequence[int] | None = None
    ) -> Estimate:
        """Return a weighted sum of the BLEU of settings, each the mean over its seeds.

        Args:
            terms: weight and setting; all settings translate the same test set.
            sentences: only these sentences of it.

        Raises:
            NotMeasured: a setting has no scores.
        """
        return self._combined(terms, [(1.0, sentences)])

    def _combined(
        self,
        terms: Sequence[tuple[float, Setting]],
        parts: Sequence[tuple[float, Sequence[int] | None]],
    ) -> Estimate:
        """Return a weighted sum, over parts of the test set, of a weighted sum over settings."""
        missing = [
            str(setting)
            for _, setting in terms
            if not self._seeds("scores", setting, split=self.split)
        ]
        if missing:
            raise NotMeasured(
                ", ".join(missing), f"not trained at {self.scale}", "repro run trains it"
            )
        value, resampled, scale, counts = 0.0, np.zeros(NUM_SAMPLES), 0.0, []
        for weight, setting in terms:
            seeds = self.seeds(setting)
            counts.append(len(seeds))
            scale += weight**2 / len(seeds)
            for share, sentences in parts:
                for sums in (_part(self.sums(setting, seed), sentences) for seed in seeds):
                    value += weight * share / len(seeds) * _bleu_of(sums)
                    resampled += weight * share / len(seeds) * bleu_of_resamples(sums)
        noise = self._seed_noise(
            terms[0][1],
            lambda sums: sum(
                share * _bleu_of(_part(sums, sentences)) for share, sentences in parts
            ),
        )
        return estimate(value, resampled, counts, noise and noise.times(scale))

    def _seed_noise(self, like: Setting, number: Callable[[np.ndarray], float]) -> SeedNoise | None:
        """Estimate the seed-to-seed variation of a number on a setting's test set."""
        return SeedNoise.pooled(
            [number(sums) for sums in system] for _, system in self._with_several_seeds(like)
        )

    def several_seeds(self, like: Setting) -> dict[str, list[np.ndarray]]:
        """Return the systems that show seed-to-seed variation on the test set of a setting.

        Returns:
            By the system's name in tables, the BLEU statistics of its sentences for each seed.
        """
        return {label_of(first): sums for first, sums in self._with_several_seeds(like)}

    def _with_several_seeds(self, like: Setting) -> list[tuple[Record, list[np.ndarray]]]:
        """Return (a record, BLEU statistics by seed) of every system with several seeds.

        Runs are seeds of one system if all else in their configurations is equal.
        """
        data = like.config(self.scale).data
        direction = (data.source, data.target)
        if direction not in self._several:
            systems = defaultdict(list)
            for record, config in self._at_size_of_scale("scores"):
                if (config.data.source, config.data.target) == direction:
                    systems[config.group_key()].append(record)
            several = [found for found in systems.values() if len(found) > 1]
            self._several[direction] = [
                (found[0], [self._sums_of(record) for record in found]) for found in several
            ]
        return self._several[direction]

    def sums(self, setting: Setting, seed: int = 1) -> np.ndarray:
        """Return the BLEU statistics of every test sentence, `(num_sentences, num_statistics)`."""
        return self._sums_of(self.scores(setting, seed))

    def _sums_of(self, record: Record, mask: int = 0) -> np.ndarray:
        """Return the BLEU statistics of the translations in a record; `mask` chooses a masked head.

        Raises:
            DamagedFileError: they belong to another version of the corpus, perhaps of the same
                size.
        """
        self._check_text(record)
        return statistics_of(record, "BLEU", mask)

    def gap_by(
        self, terms: Sequence[tuple[float, Setting]], column: str, edges: Sequence[float]
    ) -> list[tuple[str, int, Estimate]]:
        """Return a contrast on bins of the test set.

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
        column: str,
        edges: Sequence[float],
        weigh: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> Estimate:
        """Return a weighted sum over the bins of `gap_by`, resampled within bins.

        Args:
            terms, column, edges: see `gap_by`.
            weigh: (mean number, number of sentences) of the bins, `(num_bins,)` each -> their
                weights, `(num_bins,)`: a slope, or last minus first.

        Raises:
            NotMeasured: a setting has no scores, or the test set is too small for two bins.
        """
        bins = self.bins(terms[0][1], column, edges)
        if len(bins) < 2:
            raise NotMeasured(
                f"a trend at {self.scale}",
                f"there are no two bins of {MIN_SENTENCES} sentences",
                "use a larger test set",
            )
        weights = weigh(
            np.array([mean for _, mean, _ in bins]),
            np.array([len(inside) for _, _, inside in bins]),
        )
        return self._combined(
            terms,
            [(float(weight), inside) for weight, (_, _, inside) in zip(weights, bins, strict=True)],
        )

    def scores_by(self, digest: str) -> Record:
        """Look up scores by configuration digest, for runs that belong to no setting.

        Raises:
            NotMeasured: there are none.
        """
        found = [
            record
            for record in self._kinds["scores"]
            if (record["config_digest"], record["split"]) == (digest, self.split)
        ]
        if not found:
            raise NotMeasured(
                f"the run of configuration {digest}",
                f"not scored at {self.scale}",
                "repro run makes it",
            )
        return found[0]

    def difference(self, pairs: Sequence[tuple[str, str]], like: Setting) -> Estimate:
        """Return the mean difference in BLEU, first minus second, over pairs of runs.

        Seeds count as for any two systems, though two runs that continue the same run differ less.
        Raises as `scores_by`.

        Args:
            pairs: one pair per seed, each run by the digest of its configuration.
            like: a setting on the same test set.
        """
        value, resampled = 0.0, np.zeros(NUM_SAMPLES)
        for pair in pairs:
            for weight, digest in zip((1 / len(pairs), -1 / len(pairs)), pair, strict=True):
                sums = self._sums_of(self.scores_by(digest))
                value += weight * _bleu_of(sums)
                resampled += weight * bleu_of_resamples(sums)
        noise = self._seed_noise(like, _bleu_of)
        return estimate(value, resampled, [len(pairs)], noise and noise.times(2 / len(pairs)))

    def masked(
        self, setting: Setting, head: str, sentences: Sequence[int] | None = None
    ) -> Estimate:
        """Return the BLEU that a setting loses when one head is masked in all encoder layers.

        It is the mean over the seeds with such records.

        Args:
            setting: trained without the mask.
            head: its number, from 1.
            sentences: only these sentences of the test set.

        Raises:
            NotMeasured: there is no such record.
        """
        return self._masked([(1.0, setting, head)], sentences)

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
                whole, masked = (_part(sums, sentences) for sums in self._mask_sums(record, head))
                value += weight / len(seeds) * (_bleu_of(whole) - _bleu_of(masked))
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
        data, costs = like.config(self.scale).data, defaultdict(list)
        for record, config in self._at_size_of_scale("masks"):
            if (config.data.source, config.data.target) == (
                data.source,
                data.target,
            ) and head in record["masks"]:
                whole, masked = (
                    _bleu_of(_part(sums, sentences)) for sums in self._mask_sums(record, head)
                )
                costs[config.group_key()].append(whole - masked)
        return SeedNoise.pooled(costs.values())

    def _mask_sums(self, record: Record, head: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the BLEU statistics of the translations without and with a mask."""
        return self._sums_of(record), self._sums_of(record, int(head))

    def bins(self, setting: Setting, column: str, edges: Sequence[float]) -> list[Bin]:
        """Return the bins of the test set of a setting; see `into_bins`."""
        return into_bins(self.lengths(setting, column), edges)


def _texts_of(record: Record) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the corpus and the test set of a record, each with the digest of its text."""
    data = record["config"]["data"]
    corpus = (data["corpus"], data["source"], data["target"])
    yield corpus, record["provenance"]["data_fingerprint"]
    if kind_of(record) == "scores":
        yield (*corpus, record["split"]), record["references_sha256"]


def _has(record: Record, values: dict[str, Any]) -> bool:
    return all(record.get(key) == value for key, value in values.items())


def _part(sums: np.ndarray, sentences: Sequence[int] | None) -> np.ndarray:
    return sums if sentences is None else sums[list(sentences)]


def _bleu_of(sums: np.ndarray) -> float:
    return float(bleu_of_sums(sums.sum(axis=0)[None])[0])
