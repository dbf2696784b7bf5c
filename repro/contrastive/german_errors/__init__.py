"""Make errors of the types of LingEval97 in any German reference, by rules that avoid doubt.

Sennrich: How Grammatical is Character-level Neural Machine Translation? Assessing MT Quality with
Contrastive Translation Pairs, EACL 2017. https://arxiv.org/abs/1612.04629

LingEval97 was made with a parser and a morphological analyser. These rules use neither. They know
closed classes of words and the forms of some common verbs, and skip every sentence that leaves a
doubt. So the items are fewer and simpler than the original ones, and scores on them are not
comparable with scores on LingEval97. `REACH` shows how many of the published pairs the rules reach.
The rules of polarity nearly always make the published error; those of agreement often change
another word.

Differs from LingEval97:
1. `np_agreement`: only where the article itself or an ending shows the gender; of the contractions,
   only `zum` and `zur` are exchanged.
2. `subj_verb_agreement`: only main clauses in the third person, with the subject before the verb.
3. `subj_adequacy`: only "sie" as first word, or after a form of sein.
4. `verb_particle`: the wrong particle is one of four that few verbs have (statt, teil, preis,
   inne), not one unseen in a corpus.
5. `polarity_particle_kein_del`: "ein" may come before a mass noun ("ein Gold"), where fluency alone
   reveals the error.
6. `polarity_affix_*`: only adjectives from a list; nouns like "Unglück" are not changed.

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
    "polarity_particle_nicht_del": polarity.delete_nicht,
    "polarity_particle_kein_del": polarity.delete_kein,
    "polarity_affix_del": polarity.delete_un,
    "polarity_particle_nicht_ins": polarity.insert_nicht,
    "polarity_particle_kein_ins": polarity.insert_kein,
    "polarity_affix_ins": polarity.insert_un,
    "auxiliary": verbs.swap_auxiliary,
    "verb_particle": verbs.swap_particle,
}
TRANSLITERATION = "transliteration"

REACH = {
    "polarity_affix_del": ("human", 39.8, 96.9),
    "polarity_particle_nicht_del": ("human", 36.9, 100.0),
    "polarity_particle_kein_del": ("human", 63.5, 98.0),
    "np_agreement": ("mt", 58.3, 38.4),
    "subj_verb_agreement": ("mt", 13.4, 72.9),
}
"""Type -> (part of DistilLingEval, percent of its references on which the rule fires, percent of
these in which one of its errors is the published one).

DistilLingEval: Vamvas and Sennrich 2021, https://github.com/ZurichNLP/distil-lingeval. The tests
measure these numbers.
"""


def german_errors_in(
    reference: str, source: str, known_words: Collection[str] = frozenset()
) -> Iterator[ContrastiveItem]:
    """Yield the first error of each type that a German reference allows, without randomness.

    Args:
        reference: a German sentence, cased and punctuated.
        source: its English source; only the rule for the spelling of names needs it.
        known_words: words of the training data; their spelling is not tested.
    """
    sentence = Sentence(reference)
    rules = RULES | {
        TRANSLITERATION: partial(
            verbs.misspell_name, source=Sentence(source), known_words=known_words
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
    """Make a suite of all errors that a test set allows, English to German.

    Args:
        name: name of the suite, such as that of the test set.
        sources, references: English and German sentences, line by line.
        known_words: see `german_errors_in`.

    Raises:
        InputError: unequal numbers of sources and references.
    """
    if len(sources) != len(references):
        raise InputError(
            name,
            f"has {len(sources):,} sources and {len(references):,} references",
            "give one reference per source",
        )
    pairs = zip(sources, references, strict=True)
    items = [
        item
        for source, reference in pairs
        for item in german_errors_in(reference, source, known_words)
    ]
    return ContrastiveSuite(name, "en", "de", tuple(items))
