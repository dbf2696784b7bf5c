"""Measure how likely a model finds the references of a test set, sentence by sentence.

The references are force-decoded: each token is predicted from the source and from the reference
before it. No search takes part, so neither the beam nor the length penalty matters. The sum over
tokens is comparable between models with the same subwords only.
"""

from repro.contrastive.scoring import cross_entropies, longest_readable
from repro.core.decoding import Translator
from repro.records.likelihood import NLL, TOKENS
from repro.records.sentences import Table

DECIMALS = 4  # of nats: later digits depend on the order of summation


def likelihood_tables(
    translator: Translator, sources: list[str], refs: list[str]
) -> dict[str, Table]:
    """Measure the likelihood of a test set's references: nats and tokens of each.

    A model that cannot read one of the references, since it is too long, has no such table.

    Args:
        translator: a trained model.
        sources, refs: of a test set, line by line.

    Raises:
        InputError: a source is too long for the model.
    """
    tokens = [len(ids) + 1 for ids in translator.subwords.encode(translator.prepare(refs))]
    if max(tokens) > longest_readable(translator.model, "target"):
        return {}
    means = cross_entropies(translator, sources, refs)
    nll = [round(mean * count, DECIMALS) for mean, count in zip(means, tokens, strict=True)]
    return {"likelihood": Table({NLL: nll, TOKENS: tokens})}
