"""Make contrastive pairs with exact errors, after LingEval97 and ContraWSD.

(Sennrich 2017; Rios et al. 2017.) An error is one changed decision in the meaning of a sentence,
such as another gender for one article or another number for one verb. The changed meaning is
realized again, so that everything else stays the same.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from repro.errors import InputError, did_you_mean
from repro.generated.minigerman import english, german
from repro.generated.minigerman.corpus import Example, draw_examples
from repro.generated.minigerman.lexicon import ADJECTIVES, PRONOUNS, VERBS
from repro.generated.minigerman.meaning import Clause, NounPhrase, Token, Word, detokenize
from repro.generated.minigerman.senses import other_senses
from repro.generated.minigerman.words import Adjective, Noun

PHENOMENA = {
    "de": (
        "np_agreement",
        "subj_verb_agreement",
        "subj_adequacy",
        "polarity_particle_nicht_del",
        "polarity_particle_nicht_ins",
        "polarity_particle_kein_del",
        "polarity_particle_kein_ins",
        "polarity_affix_del",
        "polarity_affix_ins",
        "auxiliary",
        "verb_particle",
        "compound",
        "transliteration",
        "word_sense",
    ),
    "en": (
        "subj_verb_agreement",
        "polarity_affix_del",
        "polarity_affix_ins",
        "compound",
        "transliteration",
        "word_sense",
    ),
}
OTHER_AUXILIARY = {"haben": "sein", "sein": "haben"}
OPPOSITES = {
    adjective.english: next(other for other in adjectives if other.english == adjective.opposite[0])
    for adjectives in ADJECTIVES.values()
    for adjective in adjectives
    if adjective.opposite[0]
}
PARTICLES = ("auf", "zu", "an", "ein", "aus", "ab", "mit", "weg", "zurück", "vor")
ALSO_RIGHT = {"schalten": {"an", "ab"}, "bereiten": {"zu"}, "gehen": {"weg"}, "ziehen": {"ab"}}
"""Stem -> particles that give a verb with nearly the same sense: anschalten is einschalten."""
BOTH_AUXILIARIES = {"schwimmen", "laufen", "springen", "folgen"}
"""Verbs of the lexicon that take both auxiliaries: "ist geschwommen", "hat geschwommen"."""


@dataclass(frozen=True, slots=True)
class ContrastivePair:
    """A source, its right translation, and a translation with a single error.

    The error may leave a fluent sentence with another meaning, such as one with subject and object
    exchanged. Every contrastive translation is wrong for its source.

    ``distance`` counts words (adjacent = 1, without punctuation) between the wrong word and the
    word that proves it wrong. That is its noun, subject (in a relative clause the pronoun),
    participle or finite verb in the translation. For ``word_sense``, it is the distance between
    ambiguous noun and cue in the source. It is None if there is no such word.
    """

    source: str
    reference: str
    contrastive: str
    phenomenon: str
    distance: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """A replacement of one decision in a meaning: ``node.field = value``."""

    phenomenon: str
    node: object
    field: str
    value: object


def contrastive_pairs(
    num_per_phenomenon: int,
    seed: int,
    target: str = "de",
    exclude: Iterable[Example] = (),
    phenomena: Iterable[str] | None = None,
) -> list[ContrastivePair]:
    """Draw the same number of contrastive pairs for each phenomenon of ``PHENOMENA[target]``.

    Args:
        num_per_phenomenon: pairs per phenomenon, each from another sentence.
        seed: seed of the sentences.
        target: ``de`` (English sources) or ``en`` (German sources).
        exclude: examples whose sentences must not occur, such as the training data.
        phenomena: only these; all of the target if None.

    Raises:
        InputError: an unknown target or phenomenon.
    """
    if target not in PHENOMENA:
        raise InputError(
            "target", f"'{target}' is not a language of minigerman", did_you_mean(target, PHENOMENA)
        )
    wanted = PHENOMENA[target] if phenomena is None else tuple(phenomena)
    for phenomenon in wanted:
        if phenomenon not in PHENOMENA[target]:
            raise InputError(
                "phenomena",
                f"'{phenomenon}' is unknown for target '{target}'",
                did_you_mean(phenomenon, PHENOMENA[target]),
            )
    found: dict[str, list[ContrastivePair]] = {phenomenon: [] for phenomenon in wanted}
    stream = draw_examples(f"{seed}/contrastive", exclude)
    while any(len(pairs) < num_per_phenomenon for pairs in found.values()):
        example = next(stream)
        lacking = {
            phenomenon for phenomenon, pairs in found.items() if len(pairs) < num_per_phenomenon
        }
        for pair in errors_in_example(example, target, lacking):
            found[pair.phenomenon].append(pair)
    return [pair for pairs in found.values() for pair in pairs]


def errors_in_example(
    example: Example, target: str, wanted: Iterable[str]
) -> Iterator[ContrastivePair]:
    """Yield the first error of each wanted phenomenon that an example allows."""
    realize = german.realize if target == "de" else english.realize
    source_words = (english.realize if target == "de" else german.realize)(example.meaning)
    source, reference = (
        (example.english, example.german) if target == "de" else (example.german, example.english)
    )
    tokens = example.german_tokens if target == "de" else example.english_tokens
    remaining = set(wanted)
    for change in meaning_changes(source_words, example, target):
        if change.phenomenon not in remaining:
            continue
        forms = [word.form for word in realize_changed(realize, example, change)]
        wrong = next(
            (
                i
                for i, (form, token) in enumerate(zip(forms, tokens, strict=False))
                if form != token.form
            ),
            None,
        )
        is_question = example.meaning.clause.is_question
        if wrong is None or is_doubtful(change.phenomenon, tokens, wrong, len(forms), is_question):
            continue
        remaining.discard(change.phenomenon)
        if change.phenomenon == "word_sense":
            distance = cue_distance(source_words, example)
        else:
            distance = evidence_distance(change.phenomenon, wrong, tokens)
        yield ContrastivePair(source, reference, detokenize(forms), change.phenomenon, distance)


def is_doubtful(
    phenomenon: str, tokens: tuple[Token, ...], wrong: int, num_words: int, is_question: bool
) -> bool:
    """Return whether a change at a token may be right, or affects more than one word.

    Args:
        phenomenon: of the change.
        tokens: the right translation.
        wrong: index of the changed token.
        num_words: length of the changed sentence.
        is_question: whether the sentence is a question.
    """
    if phenomenon == "np_agreement":
        return num_words != len(tokens)  # "im" before a feminine noun would be two words, "in der"
    if phenomenon == "verb_particle":
        # Written together with its verb, the particle makes another word.
        return tokens[wrong].relation != "prt"
    if phenomenon == "polarity_particle_kein_ins" and tokens[tokens[wrong].head].relation == "pobj":
        return True  # "mit keinem Hund" is so rare that fluency alone would reveal the error
    return is_question and phenomenon.startswith("polarity_particle")


def cue_distance(words: list[Word], example: Example) -> int:
    """Count the words from the ambiguous noun of the source to its cue."""
    noun = next(
        i for i, word in enumerate(words) if (example.meaning.ambiguous, "noun") in word.keys
    )
    cues = [i for i, word in enumerate(words) if example.meaning.cue in word.keys]
    return min(count_words([word.form for word in words], noun, cue) for cue in cues)


def evidence_distance(phenomenon: str, wrong: int, tokens: tuple[Token, ...]) -> int | None:
    """Count the words from the wrong word to the word in the tree that proves it wrong."""
    if phenomenon in ("np_agreement", "auxiliary", "verb_particle"):
        evidence = tokens[wrong].head
        if tokens[wrong].relation == "prep":  # "zum", "zur": the noun depends on it
            evidence = next(
                i
                for i, token in enumerate(tokens)
                if token.head == wrong and token.relation == "pobj"
            )
    elif phenomenon in ("subj_verb_agreement", "subj_adequacy"):
        verb = tokens[wrong].head if tokens[wrong].relation == "aux" else wrong
        evidence = next(
            i for i, token in enumerate(tokens) if token.head == verb and token.relation == "nsubj"
        )
    else:
        return None
    return count_words([token.form for token in tokens], wrong, evidence)


def count_words(forms: list[str], start: int, end: int) -> int:
    """Count the steps from one word to another, without punctuation."""
    low, high = sorted((start, end))
    return sum(form not in ",.?" for form in forms[low + 1 : high + 1])


def realize_changed(
    realize: Callable[..., list[Word]], example: Example, change: Change
) -> list[Word]:
    """Realize the meaning of an example with one decision changed, and restore the meaning."""
    original = getattr(change.node, change.field)
    setattr(change.node, change.field, change.value)
    try:
        return realize(example.meaning)
    finally:
        setattr(change.node, change.field, original)


def meaning_changes(words: list[Word], example: Example, target: str) -> Iterator[Change]:
    """Yield all changes that make an error in the target language, in the order of source words."""
    seen = set()
    for node in (node for word in words for node, _ in word.keys):
        if id(node) not in seen:
            seen.add(id(node))
            if isinstance(node, Clause):
                yield from clause_changes(node, words, target)
            elif isinstance(node, NounPhrase) and not node.is_pronoun:
                yield from noun_changes(node, example, target)


def clause_changes(node: Clause, words: list[Word], target: str) -> Iterator[Change]:
    """Yield the errors of a clause."""
    antecedent = find_antecedent(node, words)
    plural = node.finite_is_plural(antecedent)
    subject = node.who_acts(antecedent)
    if target == "de" and subject.noun in (PRONOUNS["she"], PRONOUNS["they"]):
        yield Change("subj_adequacy", node, "verb_plural", not plural)
    # "Dort steht der Mann und die Frau" is right, too
    elif target == "en" or subject.conjunct is None:
        yield Change("subj_verb_agreement", node, "verb_plural", not plural)
    if node.predicate:
        yield from affix_change(node, "predicate", node.predicate)
    if target == "en":
        return
    if node.negated:
        yield Change("polarity_particle_nicht_del", node, "negated", False)
    elif can_take_not(node):
        yield Change("polarity_particle_nicht_ins", node, "negated", True)
    if node.tense == "perfect" and node.verb.german[0] not in BOTH_AUXILIARIES:
        yield Change("auxiliary", node, "auxiliary", OTHER_AUXILIARY[node.verb.auxiliary])
    if node.verb.german_particle:
        yield Change(
            "verb_particle",
            node,
            "verb",
            replace(node.verb, german_particle=foreign_particle(node, len(words))),
        )


def find_antecedent(node: Clause, words: list[Word]) -> NounPhrase | None:
    """Return the noun phrase to which a relative clause belongs, None for other clauses."""
    phrases = (
        phrase for word in words for phrase, _ in word.keys if isinstance(phrase, NounPhrase)
    )
    return next((phrase for phrase in phrases if phrase.relative is node), None)


def can_take_not(node: Clause) -> bool:
    """Return whether "nicht" can be inserted without changing another word.

    It can if no part of the clause is negative or indefinite.
    """
    phrases = [
        phrase
        for phrase in (node.subject, node.object, node.recipient)
        if phrase and not phrase.is_pronoun
    ]
    return not node.frequency and all(
        phrase.determiner in ("the", "this", "my", "his", "her", "our") for phrase in phrases
    )


def foreign_particle(node: Clause, num_words: int) -> str:
    """Choose a particle that makes no verb of nearly the same sense with this stem.

    The length of the sentence chooses among several.
    """
    stem = node.verb.german[0]
    own = {verb.german_particle for verb in VERBS if verb.german[0] == stem} | ALSO_RIGHT.get(
        stem, set()
    )
    foreign = [particle for particle in PARTICLES if particle not in own]
    return foreign[num_words % len(foreign)]


def noun_changes(node: NounPhrase, example: Example, target: str) -> Iterator[Change]:
    """Yield the errors of a noun phrase."""
    noun = node.noun
    assert isinstance(noun, Noun)  # `meaning_changes` skips pronouns
    if node.adjective:
        yield from affix_change(node, "adjective", node.adjective)
    if noun.noun_class == "name":
        yield Change("transliteration", node, "noun", misspell_name(noun))
    if len(noun.german_parts) > 1:
        yield Change("compound", node, "noun", swap_compound_parts(noun))
    if node is example.meaning.ambiguous:
        yield from (
            Change("word_sense", node, "noun", other) for other in other_senses(noun, target)
        )
    if target == "en":
        return
    if node.determiner == "the" and not node.plural:
        # If the plural of a noun looks like its singular, "die" before it would be a right plural.
        genders = [
            gender
            for gender in "mfn"
            if gender != noun.gender and (gender != "f" or not looks_plural(noun))
        ]
        yield from (Change("np_agreement", node, "article_gender", gender) for gender in genders)
    if node.determiner == "no":
        yield Change("polarity_particle_kein_del", node, "determiner", "a")
    elif node.determiner == "a":
        yield Change("polarity_particle_kein_ins", node, "determiner", "no")


def looks_plural(noun: Noun) -> bool:
    """Return whether the singular of a noun could be read as a plural."""
    return noun.german_plural in (noun.german, noun.oblique)


def affix_change(node: object, field: str, adjective: Adjective) -> Iterator[Change]:
    """Yield the change of an adjective into its opposite, if they differ by a negative prefix."""
    opposite = OPPOSITES.get(adjective.english)
    if opposite:
        yield Change(
            "polarity_affix_del" if adjective.is_negative else "polarity_affix_ins",
            node,
            field,
            opposite,
        )


def misspell_name(noun: Noun) -> Noun:
    """Misspell a name in both languages; see `misspelled`."""
    wrong = misspelled(noun.german)
    return (
        noun if wrong == noun.german else replace(noun, english=wrong, german=wrong, oblique=wrong)
    )


def misspelled(name: str) -> str:
    """Swap the first two neighbouring letters that differ in the second half of a name, if any."""
    for i in range(len(name) // 2, len(name) - 1):
        if name[i] != name[i + 1]:
            return name[:i] + name[i + 1] + name[i] + name[i + 2 :]
    return name


def swap_compound_parts(noun: Noun) -> Noun:
    """Swap the first two parts of a compound: Haustürschlüssel becomes Türhausschlüssel."""
    first, second, *_ = noun.german_parts

    def swap(form: str) -> str:
        return (second + first + form[len(first) + len(second) :]).capitalize()

    return replace(
        noun,
        english_parts=(noun.english_parts[1], noun.english_parts[0]),
        german=swap(noun.german),
        german_plural=swap(noun.german_plural),
        oblique=swap(noun.oblique),
    )
