"""Realize a meaning as English words with their dependency tree.

Order of a clause: fronted phrase, subject, auxiliary, "not", frequency, verb, particle, recipient,
object, manner, place, time, and then the clauses that depend on it. The lexical verb is the head of
the clause, and auxiliaries depend on it; "be" with an adjective is itself the head.
"""

from repro.generated.minigerman.lexicon import BE, DETERMINERS
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

DO = {
    ("present", False): "does",
    ("present", True): "do",
    ("past", False): "did",
    ("past", True): "did",
}
BE_FORMS = {
    ("present", False): "is",
    ("present", True): "are",
    ("past", False): "was",
    ("past", True): "were",
}


def realize(sentence: Sentence) -> list[Word]:
    """Return the English words of a sentence, capitalised and punctuated."""
    words, root = clause(sentence.clause, None, "root")
    return finish_sentence(words, root, "?" if sentence.clause.is_question else ".")


def noun_phrase(phrase: NounPhrase, relation: str, head: Word | None) -> list[Word]:
    """Return the English words of a noun phrase; its noun depends on ``head``."""
    noun = phrase.noun
    if isinstance(noun, Pronoun):
        return [
            Word(
                noun.english_subject if relation == "nsubj" else noun.english_object,
                head,
                relation,
                ((phrase, "noun"),),
            )
        ]
    core = Word(
        noun.english_plural if phrase.plural else noun.english, head, relation, ((phrase, "noun"),)
    )
    words = []
    if phrase.adjective:
        words.append(Word(phrase.adjective.english, core, "amod", ((phrase, "adjective"),)))
    words += [Word(part, core, "compound", ((phrase, "noun"),)) for part in noun.english_parts]
    words.append(core)
    if phrase.determiner and not (noun.bare and noun.noun_class == "time"):
        words.insert(0, determiner(phrase, core, words[0].form))
    if phrase.modifier:
        words += prepositional_phrase(phrase.modifier, core)
    if phrase.relative:
        words += clause(phrase.relative, core, "relcl", phrase)[0]
    if phrase.conjunct:
        words += [
            Word("and", core, "cc", ((phrase, "cc"),)),
            *noun_phrase(phrase.conjunct, "conj", core),
        ]
    return words


def determiner(phrase: NounPhrase, noun: Word, next_form: str) -> Word:
    """Return the determiner; "a" becomes "an" before a vowel sound."""
    if phrase.determiner in ("Mr", "Mrs"):
        return Word(phrase.determiner, noun, "compound", ((phrase, "determiner"),))
    singular, plural, _, _ = DETERMINERS[phrase.determiner]
    form = plural if phrase.plural else singular
    if form == "a" and (next_form[0] in "aeiou" or next_form == "honest"):
        form = "an"
    return Word(form, noun, "det", ((phrase, "determiner"),))


def prepositional_phrase(phrase: PrepositionalPhrase, head: Word) -> list[Word]:
    """Return an English preposition, which depends on ``head``, and its noun phrase."""
    preposition = Word(
        phrase.preposition.english, head, "prep", ((phrase.noun_phrase, "preposition"),)
    )
    return [preposition, *noun_phrase(phrase.noun_phrase, "pobj", preposition)]


def adverbial(phrase: Adverb | PrepositionalPhrase | None, head: Word, owner: Clause) -> list[Word]:
    """Return the English words of an adverbial of the clause ``owner``."""
    if phrase is None:
        return []
    if isinstance(phrase, PrepositionalPhrase):
        return prepositional_phrase(phrase, head)
    return [Word(phrase.english, head, "advmod", ((owner, phrase.english),))]


def verb_forms(node: Clause, plural: bool) -> tuple[str, str]:
    """Return the English auxiliary, or "", and the form of the verb."""
    base, singular, past, participle = node.verb.english
    if node.tense == "modal":
        return node.modal, base
    if node.tense == "perfect":
        return ("have" if plural else "has"), participle
    if node.verb is BE:
        return "", BE_FORMS[node.tense, plural]
    if node.negated or node.is_question:
        return DO[node.tense, plural], base
    return "", past if node.tense == "past" else base if plural else singular


def clause(
    node: Clause, head: Word | None, relation: str, antecedent: NounPhrase | None = None
) -> tuple[list[Word], Word]:
    """Return the English words of a clause, and its verb, which depends on ``head``."""
    auxiliary, form = verb_forms(node, node.finite_is_plural(antecedent))
    verb = Word(form, head, relation, ((node, "verb"),))
    is_be = node.verb is BE and not auxiliary
    # "does" and "did" carry only tense, which the German verb expresses itself.
    auxiliary_key = (node, "auxiliary" if node.tense in ("modal", "perfect") else "verb")
    is_cannot = node.negated and auxiliary == "can" and not node.is_question
    if is_cannot:
        auxiliary = "cannot"
    finite = (
        [Word(auxiliary, verb, "aux", (auxiliary_key,))] if auxiliary else [verb] if is_be else []
    )
    subject = noun_phrase(node.subject, "nsubj", verb) if node.subject else []
    words = [*relative_pronoun(node, antecedent, verb), *front(node, verb)]
    words += [*finite, *subject] if node.is_question else [*subject, *finite]
    if is_cannot:
        finite[0].keys += ((node, "not"),)
    elif node.negated:
        words.append(Word("not", verb, "neg", ((node, "not"),)))
    if node.front != "frequency":
        words += adverbial(node.frequency, verb, node)
    words += [] if is_be else [verb]
    words += complements(node, verb)
    words += adverbial(node.manner, verb, node)
    for slot in ("place", "time"):
        if node.front != slot:
            words += adverbial(getattr(node, slot), verb, node)
    return words + dependent_clauses(node, verb), verb


def relative_pronoun(node: Clause, antecedent: NounPhrase | None, verb: Word) -> list[Word]:
    """Return the word that opens a relative clause: "who", "whom" or "that"."""
    if antecedent is None:
        return []
    person = "who" if node.gap == "subject" else "whom"
    form = person if antecedent.noun.noun_class == "person" else "that"
    return [Word(form, verb, "nsubj" if node.gap == "subject" else "dobj", ((node, "relative"),))]


def front(node: Clause, verb: Word) -> list[Word]:
    """Return the English words before the subject."""
    if node.front == "subordinate":
        return [*subordinate_clause(node, verb), punctuation(",", verb, node, "comma")]
    return adverbial(getattr(node, node.front), verb, node) if node.front else []


def complements(node: Clause, verb: Word) -> list[Word]:
    """Return particle, recipient, object and predicate; a pronoun precedes the particle."""
    particle = (
        [Word(node.verb.english_particle, verb, "prt", ((node, "verb"),))]
        if node.verb.english_particle
        else []
    )
    words = noun_phrase(node.recipient, "iobj", verb) if node.recipient else []
    if node.object:
        preposition = node.verb.preposition
        if preposition:
            words += prepositional_phrase(PrepositionalPhrase(preposition, node.object), verb)
        else:
            words += noun_phrase(node.object, "dobj", verb)
    if node.predicate:
        adjective = Word(node.predicate.english, verb, "acomp", ((node, "predicate"),))
        words += [
            *(
                [Word(node.degree.english, adjective, "advmod", ((node, "degree"),))]
                if node.degree
                else []
            ),
            adjective,
        ]
    return words + particle if node.object and node.object.is_pronoun else particle + words


def subordinate_clause(node: Clause, verb: Word) -> list[Word]:
    """Return the English adverbial clause with its conjunction."""
    assert node.subordinate is not None
    words, subordinate_verb = clause(node.subordinate, verb, "advcl")
    return [
        Word(node.subordinator, subordinate_verb, "mark", ((node.subordinate, "mark"),)),
        *words,
    ]


def dependent_clauses(node: Clause, verb: Word) -> list[Word]:
    """Return the English that-clause, adverbial clause (unless fronted) and coordinated clause."""
    words = []
    if node.complement:
        inner, inner_verb = clause(node.complement, verb, "ccomp")
        words += [Word("that", inner_verb, "mark", ((node.complement, "mark"),)), *inner]
    if node.subordinate and node.front != "subordinate":
        words += subordinate_clause(node, verb)
    if node.coordinate:
        inner, _ = clause(node.coordinate, verb, "conj")
        comma = [punctuation(",", verb, node, "comma")] if node.coordinator == "but" else []
        words += [*comma, Word(node.coordinator, verb, "cc", ((node, "cc"),)), *inner]
    return words
