"""Refuse records that were measured on other text than the rest, or on part of it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from repro.claims.finding import NotMeasured, Record, RecordsOfScale
from repro.claims.settings import Setting
from repro.errors import DamagedFileError
from repro.measures.heads import RELEVANCE_SENTENCES
from repro.records.schema import kind_of
from repro.records.translations import hypotheses_of


class CheckedRecords(RecordsOfScale):
    """Records of one scale whose texts can be compared; see `RecordsOfScale`."""

    def __init__(self, scale: str, records: Iterable[Record], split: str = "test") -> None:
        super().__init__(scale, records, split)
        self._texts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)

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
        """Refuse evidence whose corpus version or references differ from most records'."""
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
        """Refuse evidence that was measured, from Python, on part of a split.

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
        """Return how many sentences the test set of a claim's record should have.

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


def _texts_of(record: Record) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the corpus and the test set of a record, each with the digest of its text."""
    data = record["config"]["data"]
    corpus = (data["corpus"], data["source"], data["target"])
    yield corpus, record["provenance"]["data_fingerprint"]
    if kind_of(record) == "scores":
        yield (*corpus, record["split"]), record["references_sha256"]
