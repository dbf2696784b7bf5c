"""Realize a meaning as German words with their dependency tree.

Main clause: one phrase, finite verb, middle field, rest of the verb (particle, infinitive or
participle). Subordinate clause: middle field, rest of the verb, finite verb. The middle field:
subject, recipient, time, frequency, "hier", object, "nicht", manner, predicate, place. A pronoun
comes first, an object with a preposition after "nicht". As in English, the lexical verb is the head
of the clause, and auxiliaries depend on it.
"""

from repro.generated.minigerman.lexicon import BE, COORDINATORS, DETERMINERS, MODALS, SUBORDINATORS
from repro.generated.minigerman.meaning import (
    Clause,
    NounPhrase,
    PrepositionalPhrase,
    Sentence,
    Word,
    finish_sentence,
    punctuation,
)
from repro.generated.minigerman.words import Adverb, Pronoun

AUXILIARIES = {"haben": ("hat", "haben"), "sein": ("ist", "sind")}
CONTRACTIONS = {
    ("in", "dem"): "im", ("an", "dem"): "am", ("zu", "dem"): "zum", ("zu", "der"): "zur",
    ("in", "das"): "ins", ("an", "das"): "ans",
}  # fmt: skip

# Endings by case and gender, in the order m, f, n, plural.
GENDERS = "mfnp"
STRONG = {
    "nom": ("er", "e", "es", "e"),
    "acc": ("en", "e", "es", "e"),
    "dat": ("em", "er", "em", "en"),
}
MIXED_DETERMINER = {
    "nom": ("", "e", "", "e"),
    "acc": ("en", "e", "", "e"),
    "dat": ("em", "er", "em", "en"),
}
DEFINITE = {
    "nom": ("er", "ie", "as", "ie"),
    "acc": ("en", "ie", "as", "ie"),
    "dat": ("em", "er", "em", "en"),
}
RELATIVE = {"nom": ("der", "die", "das", "die"), "acc": ("den", "die", "das", "die")}
WEAK_ADJECTIVE = {
    "nom": ("e", "e", "e", "en"),
    "acc": ("en", "e", "e", "en"),
    "dat": ("en", "en", "en", "en"),
}
MIXED_ADJECTIVE = {
    "nom": ("er", "e", "es", "en"),
    "acc": ("en", "e", "es", "en"),
    "dat": ("en", "en", "en", "en"),
}
DETERMINER_ENDINGS = {"definite": DEFINITE, "strong": STRONG, "mixed": MIXED_DETERMINER}
ADJECTIVE_ENDINGS = {"definite": WEAK_ADJECTIVE, "strong": WEAK_ADJECTIVE, "mixed": MIXED_ADJECTIVE}


def realize(sentence: Sentence) -> list[Word]:
    """Return the German words of a sentence, capitalised and punctuated."""
    words, root = clause(sentence.clause, None, "root", verb_final=False)
    return finish_sentence(words, root, "?" if sentence.clause.is_question else ".")


def gender_index(phrase: NounPhrase) -> int:
    """Return the column of a noun phrase in the tables of endings."""
    return GENDERS.index("p" if phrase.plural else phrase.gender)


def determiner_form(determiner: str, case: str, column: int) -> str:
    """Inflect a determiner of the lexicon."""
    _, _, stem, family = DETERMINERS[determiner]
    return stem if family == "fixed" else stem + DETERMINER_ENDINGS[family][case][column]


def adjective_form(phrase: NounPhrase, case: str) -> str:
    """Inflect an attributive adjective: strong without a determiner, after numerals and "viele"."""
    family = DETERMINERS[phrase.determiner][3] if phrase.determiner else "fixed"
    is_strong = family == "fixed" or phrase.determiner == "many"
    assert phrase.adjective is not None
    return (
        phrase.adjective.stem
        + (STRONG if is_strong else ADJECTIVE_ENDINGS[family])[case][gender_index(phrase)]
    )


def noun_phrase(phrase: NounPhrase, case: str, relation: str, head: Word) -> list[Word]:
    """Return the German words of a noun phrase; its noun depends on ``head``."""
    if isinstance(phrase.noun, Pronoun):
        return [Word(phrase.noun.german[case], head, relation, ((phrase, "noun"),))]
    noun = Word(phrase.noun.german_form(case, phrase.plural), head, relation, ((phrase, "noun"),))
    words = []
    if phrase.determiner in ("Mr", "Mrs"):
        title = "Frau" if phrase.determiner == "Mrs" else "Herr" if case == "nom" else "Herrn"
        words.append(Word(title, noun, "compound", ((phrase, "determiner"),)))
    elif phrase.determiner:
        column = (
            GENDERS.index(phrase.article_gender) if phrase.article_gender else gender_index(phrase)
        )
        words.append(
            Word(
                determiner_form(phrase.determiner, case, column),
                noun,
                "det",
                ((phrase, "determiner"),),
            )
        )
    if phrase.adjective:
        words.append(Word(adjective_form(phrase, case), noun, "amod", ((phrase, "adjective"),)))
    words.append(noun)
    if phrase.modifier:
        words += prepositional_phrase(phrase.modifier, noun)
    if phrase.relative:
        inner, verb = clause(phrase.relative, noun, "relcl", verb_final=True, antecedent=phrase)
        words += [punctuation(",", verb), *inner, punctuation(",", verb)]
    if phrase.conjunct:
        words += [
            Word("und", noun, "cc", ((phrase, "cc"),)),
            *noun_phrase(phrase.conjunct, case, "conj", noun),
        ]
    return words


def prepositional_phrase(phrase: PrepositionalPhrase, head: Word) -> list[Word]:
    """Return a German preposition, which depends on ``head``, and its noun phrase.

    Preposition and article may contract: "in dem" becomes "im".
    """
    german, case = phrase.preposition.german, phrase.preposition.case
    preposition = Word(german, head, "prep", ((phrase.noun_phrase, "preposition"),))
    words = noun_phrase(phrase.noun_phrase, case, "pobj", preposition)
    contraction = CONTRACTIONS.get((german, words[0].form)) if words[0].relation == "det" else None
    if contraction:
        preposition.form = contraction
        preposition.keys += words.pop(0).keys
    return [preposition, *words]


def adverbial(phrase: Adverb | PrepositionalPhrase | None, head: Word, owner: Clause) -> list[Word]:
    """Return the German words of an adverbial of the clause ``owner``."""
    if phrase is None:
        return []
    if isinstance(phrase, PrepositionalPhrase):
        return prepositional_phrase(phrase, head)
    return [Word(phrase.german, head, "advmod", ((owner, phrase.english),))]


def verb_words(
    node: Clause, head: Word | None, relation: str, plural: bool, verb_final: bool
) -> tuple[Word, list[Word], Word]:
    """Return the finite verb, the rest of the verb in order, and the lexical verb, the head."""
    infinitive, _, _, participle = node.verb.german
    particle = node.verb.german_particle
    if node.tense in ("modal", "perfect"):
        verb = Word(
            particle + (infinitive if node.tense == "modal" else participle),
            head,
            relation,
            ((node, "verb"),),
        )
        singular_plural = (
            MODALS[node.modal]
            if node.tense == "modal"
            else AUXILIARIES[node.auxiliary or node.verb.auxiliary]
        )
        return Word(singular_plural[plural], verb, "aux", ((node, "auxiliary"),)), [verb], verb
    form = (
        finite_be(node.tense, plural)
        if node.verb is BE
        else node.verb.german_finite(node.tense, plural)
    )
    verb = Word(particle + form if verb_final else form, head, relation, ((node, "verb"),))
    separate = (
        [Word(particle, verb, "prt", ((node, "verb"),))] if particle and not verb_final else []
    )
    return verb, separate, verb


def finite_be(tense: str, plural: bool) -> str:
    """Inflect sein for tense and number."""
    return BE.german_finite(tense, plural) if tense == "past" else AUXILIARIES["sein"][plural]


def clause(
    node: Clause,
    head: Word | None,
    relation: str,
    verb_final: bool,
    antecedent: NounPhrase | None = None,
) -> tuple[list[Word], Word]:
    """Return the German words of a clause, and its lexical verb, which depends on ``head``."""
    finite, rest, verb = verb_words(
        node, head, relation, node.finite_is_plural(antecedent), verb_final
    )
    subject = noun_phrase(node.subject, "nom", "nsubj", verb) if node.subject else []
    opening = front(node, verb)
    middle = middle_field(node, verb)
    if verb_final:
        words = [
            *relative_pronoun(node, antecedent, verb),
            *opening,
            *subject,
            *middle,
            *rest,
            finite,
        ]
    elif opening or node.is_question:
        words = [*opening, finite, *subject, *middle, *rest]
    else:
        words = [*subject, finite, *middle, *rest]
    return words + dependent_clauses(node, verb), verb


def relative_pronoun(node: Clause, antecedent: NounPhrase | None, verb: Word) -> list[Word]:
    """Return the relative pronoun: gender and number of the antecedent, case of the gap."""
    if antecedent is None:
        return []
    case = "nom" if node.gap == "subject" else "acc"
    form = RELATIVE[case][gender_index(antecedent)]
    return [Word(form, verb, "nsubj" if node.gap == "subject" else "dobj", ((node, "relative"),))]


def front(node: Clause, verb: Word) -> list[Word]:
    """Return the German words before the finite verb in place of the subject."""
    if node.front == "subordinate":
        return [*subordinate_clause(node, verb), punctuation(",", verb, node, "comma")]
    return adverbial(getattr(node, node.front), verb, node) if node.front else []


def middle_field(node: Clause, verb: Word) -> list[Word]:
    """Return the words between the two parts of the verb, without the subject."""
    recipient = noun_phrase(node.recipient, "dat", "iobj", verb) if node.recipient else []
    objects = object_words(node, verb)
    has_preposition = node.verb.preposition is not None and bool(node.verb.preposition.german)
    words = objects if node.object and node.object.is_pronoun and not has_preposition else []
    objects = [] if words else objects
    words = words + recipient
    for slot in ("time", "frequency"):
        if node.front != slot:
            words = words + adverbial(getattr(node, slot), verb, node)
    place = adverbial(node.place, verb, node) if node.front != "place" else []
    if isinstance(node.place, Adverb):
        words, place = words + place, []
    negation = [Word("nicht", verb, "neg", ((node, "not"),))] if node.negated else []
    before, after = ([], objects) if has_preposition else (objects, [])
    words = (
        words
        + before
        + negation
        + adverbial(node.manner, verb, node)
        + after
        + predicate_words(node, verb)
    )
    return words + place


def object_words(node: Clause, verb: Word) -> list[Word]:
    """Return the object, in the verb's case or with the verb's German preposition."""
    if not node.object:
        return []
    preposition = node.verb.preposition
    if preposition and preposition.german:
        return prepositional_phrase(PrepositionalPhrase(preposition, node.object), verb)
    return noun_phrase(
        node.object, node.verb.case, "dobj" if node.verb.case == "acc" else "iobj", verb
    )


def predicate_words(node: Clause, verb: Word) -> list[Word]:
    """Return the uninflected predicate adjective with its adverb of degree."""
    if not node.predicate:
        return []
    adjective = Word(node.predicate.german, verb, "acomp", ((node, "predicate"),))
    return [
        *(
            [Word(node.degree.german, adjective, "advmod", ((node, "degree"),))]
            if node.degree
            else []
        ),
        adjective,
    ]


def subordinate_clause(node: Clause, verb: Word) -> list[Word]:
    """Return the German adverbial clause with its conjunction, without the comma after it."""
    assert node.subordinate is not None
    words, subordinate_verb = clause(node.subordinate, verb, "advcl", verb_final=True)
    mark = Word(
        SUBORDINATORS[node.subordinator], subordinate_verb, "mark", ((node.subordinate, "mark"),)
    )
    return [punctuation(",", verb), mark, *words]


def dependent_clauses(node: Clause, verb: Word) -> list[Word]:
    """Return the German that-clause, adverbial clause (unless fronted) and coordinated clause."""
    words = []
    if node.complement:
        inner, inner_verb = clause(node.complement, verb, "ccomp", verb_final=True)
        mark = Word(SUBORDINATORS["that"], inner_verb, "mark", ((node.complement, "mark"),))
        words += [punctuation(",", verb), mark, *inner, punctuation(",", verb)]
    if node.subordinate and node.front != "subordinate":
        words += [*subordinate_clause(node, verb), punctuation(",", verb)]
    if node.coordinate:
        inner, _ = clause(node.coordinate, verb, "conj", verb_final=False)
        comma = [punctuation(",", verb, node, "comma")] if node.coordinator == "but" else []
        words += [*comma, Word(COORDINATORS[node.coordinator], verb, "cc", ((node, "cc"),)), *inner]
    return words
