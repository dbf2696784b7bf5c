"""Find the result records of a scale by the setting that they belong to."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from repro.claims.pooling import AND, pooled
from repro.claims.settings import Setting, has_size_of_scale
from repro.core.config import RunConfig, from_dict
from repro.errors import ReproError
from repro.presets import SCALES
from repro.records.schema import kind_of
from repro.records.stored import group_key, search_of
from repro.runs.naming import scale_of

Record = dict[str, Any]


class NotMeasured(ReproError):
    """No record holds the requested number: what is missing, and the command that measures it."""


class RecordsOfScale:
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
        self._of_scale: dict[str, list[Record]] = {}
        sets = split.split(AND)
        for record in records if len(sets) == 1 else pooled(records, sets):
            kind = kind_of(record)
            # All settings are compared under one search.
            if kind != "scores" or not search_of(record):
                self._kinds[kind].append(record)
                of_group = self._groups.setdefault((kind, group_key(record)), {})
                of_group.setdefault(record["config"]["train"]["seed"], []).append(record)

    def find(self, kind: str, setting: Setting, seed: int = 1, **values: Any) -> list[Record]:
        """Return the evidence of a kind about a setting whose keys have the given values."""
        found = self.by_seed(kind, setting).get(seed, [])
        return [record for record in found if _has(record, values)]

    def by_seed(self, kind: str, setting: Setting) -> dict[int, list[Record]]:
        """Return the evidence of a kind about a setting, on any test set, by training seed."""
        return self._groups.get((kind, setting.config(self.scale).group_key()), {})

    def all(self, kind: str) -> list[Record]:
        """Return all records of a kind from this scale and this test set, if any."""
        if kind not in self._of_scale:
            corpus = SCALES[self.scale].data.corpus
            several = sum(scale.data.corpus == corpus for scale in SCALES.values()) > 1
            self._of_scale[kind] = [
                record
                for record in self._kinds[kind]
                if record["config"]["data"]["corpus"] == corpus
                and record.get("split", self.split) == self.split
                and not (several and scale_of(_config(record)) != self.scale)
            ]
        return self._of_scale[kind]

    def inexact(self) -> dict[str, list[str]]:
        """Return how scored runs deviate from their configuration, by run: device, code or text."""
        return {
            record["run"]: notes
            for record in self.all("scores")
            if (notes := record["provenance"].get("inexact"))
        }

    def _at_size_of_scale(self, kind: str) -> Iterator[tuple[Record, RunConfig]]:
        """Yield the evidence of a kind from runs of the scale's size, with configurations."""
        found = ((record, _config(record)) for record in self.all(kind))
        return ((record, config) for record, config in found if has_size_of_scale(config))

    def one(self, kind: str, setting: Setting, seed: int = 1, **values: Any) -> Record:
        """Return the first record of a kind about a setting that a claim compares.

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
        """Return the training seeds for which there is such evidence about a setting."""
        by_seed = self.by_seed(kind, setting)
        return sorted(
            seed for seed, found in by_seed.items() if any(_has(record, values) for record in found)
        )

    def scores(self, setting: Setting, seed: int = 1) -> Record:
        """Return the score record of a setting on this test set."""
        return self.one("scores", setting, seed, split=self.split)

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

    def lengths(self, setting: Setting, column: str) -> list[int]:
        """Return the lengths of the test sentences; `sentences.LENGTHS` lists the columns."""
        return self.scores(setting, self.seeds(setting)[0])["tables"]["references"][column].tolist()


def _config(record: Record) -> RunConfig:
    """Return the configuration of the run that a claim's record is about."""
    return from_dict(RunConfig, record["config"])


def _has(record: Record, values: dict[str, Any]) -> bool:
    """Return whether a claim's record has the values asked for."""
    return all(record.get(key) == value for key, value in values.items())
