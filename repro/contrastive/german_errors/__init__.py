"""Makes errors of the types of LingEval97 in any German reference, by rules that are sure of them.

Sennrich: How Grammatical is Character-level Neural Machine Translation? Assessing MT Quality with
    Contrastive Translation Pairs, EACL 2017.
https://arxiv.org/abs/1612.04629

LingEval97 was made with a parser and a morphological analyser. Here are neither: the rules know
    closed classes of words and the forms of
some common verbs, and pass over every sentence that leaves a doubt. So the items are fewer and
plainer than the original ones, and scores on them are not to be put beside those on LingEval97.
`REACH` says how many of the published pairs the rules reach: where those of polarity fire, they
make the published error nearly always; those of agreement often choose another word than the
published one.

Differs from LingEval97:
1. `np_agreement`: only where the article itself or an ending shows the gender; of the contractions,
    `zum` and `zur` are exchanged.
2. `subj_verb_agreement`: main clauses, with the subject before the verb, in the third person.
3. `subj_adequacy`: "sie" as first word, or after a form of sein.
4. `verb_particle`: the wrong particle is one of four that few verbs have (statt, teil, preis,
    inne), not one unseen in a corpus.
5. `polarity_particle_kein_del`: "ein" may come before a noun that is not counted ("ein Gold"),
    where fluency alone tells.
6. `polarity_affix_*`: adjectives from a list; a noun like "Unglück" is left alone.

Not included: `compound`, which needs a lexicon of the parts of compounds; `minigerman` has such
    pairs.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from repro.contrastive.german_errors import agreement, polarity, verbs
from repro.contrastive.german_errors.agreement import Error
from repro.contrastive.german_errors.sentence import Sentence
from repro.contrastive.suites import ContrastiveItem, ContrastiveSuite
from repro.errors import InputError

RULES: dict[str, Callable[[Sentence], Iterator[Error]]] = {
    "np_agreement": agreement.np_agreement,
    "subj_verb_agreement": agreement.subj_verb_agreement,
    "subj_adequacy": agreement.subj_adequacy,
    "polarity_particle_nicht_del": polarity.nicht_del,
    "polarity_particle_kein_del": polarity.kein_del,
    "polarity_affix_del": polarity.affix_del,
    "polarity_particle_nicht_ins": polarity.nicht_ins,
    "polarity_particle_kein_ins": polarity.kein_ins,
    "polarity_affix_ins": polarity.affix_ins,
    "auxiliary": verbs.auxiliary,
    "verb_particle": verbs.verb_particle,
}
TRANSLITERATION = "transliteration"

REACH = {
    "polarity_affix_del": ("human", 39.8, 96.9),
    "polarity_particle_nicht_del": ("human", 36.9, 100.0),
    "polarity_particle_kein_del": ("human", 63.5, 98.0),
    "np_agreement": ("mt", 58.3, 38.4),
    "subj_verb_agreement": ("mt", 13.4, 72.9),
}
"""Type -> part of DistilLingEval (Vamvas and Sennrich 2021, https://github.com/ZurichNLP/distil-lingeval), on how many percent of its
references the rule fires, and in how many percent of these one of its errors is the published one; measured by the tests."""


def errors_in(
    reference: str, source: str, known_words: Collection[str] = frozenset()
) -> Iterator[ContrastiveItem]:
    """Yield for each type the first error that a German reference allows; the same text gives the same errors.

    Args:
        reference: a German sentence, cased and punctuated.
        source: its English source; only the spelling of names is compared with it.
        known_words: words of the training data, whose spelling is not tested.
    """
    sentence = Sentence(reference)
    rules = RULES | {
        TRANSLITERATION: partial(
            verbs.transliteration, source=Sentence(source), known_words=known_words
        )
    }
    for kind, rule in rules.items():
        for contrastive, distance in rule(sentence):
            yield ContrastiveItem(source, reference, (contrastive,), kind, distance)
            break


def generate_suite(
    name: str,
    sources: Sequence[str],
    references: Sequence[str],
    known_words: Collection[str] = frozenset(),
) -> ContrastiveSuite:
    """Make all errors that a test set allows, English to German.

    Args:
        name: of the suite, such as that of the test set.
        sources, references: English and German sentences, line by line.
        known_words: see `errors_in`.

    Raises:
        InputError: not one reference a source.
    """
    if len(sources) != len(references):
        raise InputError(
            name,
            f"has {len(sources):,} sources and {len(references):,} references",
            "give one reference per source",
        )
    pairs = zip(sources, references, strict=True)
    items = [
        item for source, reference in pairs for item in errors_in(reference, source, known_words)
    ]
    return ContrastiveSuite(name, "en", "de", tuple(items))
