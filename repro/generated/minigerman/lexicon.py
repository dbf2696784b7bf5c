"""Build the lexicon from ``tables``, most frequent words first.

The word of rank r is drawn with a probability close to 1/r.

A noun is written ``english[/plural] German/German plural gender [flags]``. The flags are ``mass``
(no plural, no "a"), ``bare`` (no article in English), ``weak:oblique form`` and ``at:preposition``
(makes the noun a place). A verb is written ``english forms | German forms | subjects > objects |
extras``. Irregular forms follow after colons; a German particle precedes ``+``, an English one
follows ``_``. Every word has one translation here, so that the mapping can be learned exactly. The
ambiguous nouns are in ``senses``.
"""

from repro.generated.minigerman import tables
from repro.generated.minigerman.words import (
    Adjective,
    Adverb,
    Noun,
    Preposition,
    Pronoun,
    Verb,
    english_plural,
    regular_past,
    third_person,
    weak_conjugation,
)

# The name is the English word, or both words if English has one for several German ones.
PREPOSITIONS = {
    name: Preposition(name.partition("_")[0], german, case)
    for name, german, case in (line.split(":") for line in tables.PREPOSITION_TABLE.split())
}

PRONOUNS = {
    "he": Pronoun("he", "him", {"nom": "er", "acc": "ihn", "dat": "ihm"}, plural=False),
    "she": Pronoun("she", "her", {"nom": "sie", "acc": "sie", "dat": "ihr"}, plural=False),
    "they": Pronoun("they", "them", {"nom": "sie", "acc": "sie", "dat": "ihnen"}, plural=True),
    "we": Pronoun("we", "us", {"nom": "wir", "acc": "uns", "dat": "uns"}, plural=True),
}

# English word (singular, plural), German stem, and the family of its endings.
DETERMINERS = {
    "the": ("the", "the", "d", "definite"),
    "a": ("a", "", "ein", "mixed"),
    "no": ("no", "no", "kein", "mixed"),
    "my": ("my", "my", "mein", "mixed"),
    "our": ("our", "our", "unser", "mixed"),
    "his": ("his", "his", "sein", "mixed"),
    "her": ("her", "her", "ihr", "mixed"),
    "this": ("this", "these", "dies", "strong"),
    "every": ("every", "", "jed", "strong"),
    "many": ("", "many", "viel", "strong"),
    "two": ("", "two", "zwei", "fixed"),
    "three": ("", "three", "drei", "fixed"),
}

# English, German singular and plural.
MODALS = {
    "can": ("kann", "können"),
    "must": ("muss", "müssen"),
    "should": ("sollte", "sollten"),
    "may": ("darf", "dürfen"),
}
SUBORDINATORS = {
    "because": "weil",
    "although": "obwohl",
    "if": "wenn",
    "while": "während",
    "before": "bevor",
    "that": "dass",
}
COORDINATORS = {"and": "und", "but": "aber"}
VERB_FEATURES = {"stative", "benefit", "iobj", "motion", "that", "once"}
BE = Verb(("be", "is", "was", "been"), "", ("sein", "ist", "war", "gewesen"), "", "sein", (), ())

TIME_ADVERBS = [
    Adverb("today", "heute"),
    Adverb("yesterday", "gestern", ("past",)),
    Adverb("now", "jetzt", ("present", "modal")),
    Adverb("tomorrow", "morgen", ("modal",)),
    Adverb("soon", "bald", ("modal",)),
    Adverb("again", "wieder"),
    Adverb("then", "dann", ("present", "past", "modal")),
]
FREQUENCY_ADVERBS = [
    Adverb("often", "oft"),
    Adverb("always", "immer"),
    Adverb("never", "nie", ("present", "past", "perfect")),
    Adverb("sometimes", "manchmal", ("present", "past")),
    Adverb("rarely", "selten", ("present", "past", "perfect")),
    Adverb("usually", "meistens", ("present", "past")),
    Adverb("already", "schon", ("perfect",)),
]
PLACE_ADVERBS = [
    Adverb("here", "hier"),
    Adverb("there", "dort"),
    Adverb("outside", "draußen"),
    Adverb("everywhere", "überall"),
]
MANNER_ADVERBS = {
    "move": [
        Adverb("quickly", "schnell"),
        Adverb("slowly", "langsam"),
        Adverb("secretly", "heimlich"),
    ],
    "care": [
        Adverb("carefully", "vorsichtig"),
        Adverb("quickly", "schnell"),
        Adverb("secretly", "heimlich"),
    ],
    "patience": [Adverb("patiently", "geduldig"), Adverb("alone", "allein")],
    "voice": [Adverb("loudly", "laut"), Adverb("quietly", "leise")],
    "skill": [Adverb("well", "gut"), Adverb("badly", "schlecht"), Adverb("alone", "allein")],
}
DEGREE_ADVERBS = [Adverb("very", "sehr"), Adverb("quite", "ziemlich"), Adverb("too", "zu")]

FIRST_NAMES = {
    "f": "Anna Maria Julia Laura Lena Eva Sophie Nina Martha Clara Emma Ida Frieda Paula".split(),
    "m": "Peter Thomas Martin David Paul Max Felix Simon Oskar Jonas Karl Emil Bruno Anton".split(),
}
CITIES = "Berlin Hamburg London Paris Bremen Dresden Boston Oslo Madrid Leipzig".split()
SURNAME_STARTS = (
    "Ber Kal Mor Tan Wil Hol Ros Gar Lin Dor Fel Stein Bran Kro Lam Nor Pel Sal Tor Win".split()
)
SURNAME_ENDS = "mann berg ski dorf feld ner ling baum horst kamp rich son".split()


def split_entries(table: str) -> list[str]:
    """Split a table into its entries, which are separated by newlines or semicolons."""
    return [entry.strip() for entry in table.replace("\n", ";").split(";") if entry.strip()]


def parse_noun(line: str, noun_class: str) -> Noun:
    """Parse one entry of the noun table."""
    english, german, gender, *flags = line.split()
    options = dict(flag.partition(":")[::2] for flag in flags)
    singular, _, plural = english.partition("/")
    german_singular, _, german_plural = german.partition("/")
    return Noun(
        singular,
        plural or english_plural(singular),
        german_singular,
        german_plural,
        gender,
        noun_class,
        options.get("weak", german_singular),
        is_mass="mass" in options,
        bare="bare" in options,
        can_be_owned=singular not in tables.UNOWNED,
        place_preposition=PREPOSITIONS.get(options.get("at", "")),
    )


def parse_verb(line: str) -> Verb:
    """Parse one line of the verb table."""
    english, german, frame, extras = (field.strip() for field in line.split("|"))
    forms, _, english_particle = english.partition("_")
    base, *past = forms.split(":")
    particle, _, german_forms = german.rpartition("+")
    german_forms = german_forms.split(":")
    subjects, _, objects = frame.partition(">")
    options = dict(extra.partition("=")[::2] for extra in extras.split())
    return Verb(
        (base, third_person(base), *(past or [regular_past(base)] * 2)),
        english_particle,
        tuple(german_forms) if len(german_forms) > 1 else weak_conjugation(german_forms[0]),
        particle,
        "sein" if "sein" in options else "haben",
        tuple(subjects.split()),
        tuple(objects.split()),
        options.get("case", "acc"),
        PREPOSITIONS.get(options.get("prep", "")),
        options.get("manner", ""),
        frozenset(options) & VERB_FEATURES,
    )


def parse_adjectives(table: str) -> list[Adjective]:
    """Parse entries ``english German [stem]`` of the adjective table.

    ``happy~unhappy glücklich`` gives two adjectives, the second with un- in German.
    """
    adjectives = []
    for line in split_entries(table):
        english, german, *stem = line.split()
        stem = stem[0] if stem else german
        positive, _, negative = english.partition("~")
        adjectives.append(Adjective(positive, german, stem, (negative, "un" + german)))
        if negative:
            adjectives.append(
                Adjective(
                    negative, "un" + german, "un" + stem, (positive, german), is_negative=True
                )
            )
    return adjectives


def proper_name(form: str, gender: str) -> Noun:
    """Make a proper name, which is equal in both languages."""
    return Noun(form, form, form, form, gender, "name", form, bare=True)


def join_compound(modifiers: tuple[tuple[str, str], ...], head: Noun) -> Noun:
    """Make a compound: ("house", "haus") and the noun Tür give Haustür.

    Args:
        modifiers: (English word, German linking form) of each.
        head: the last noun.
    """
    german_parts = tuple(linking for _, linking in modifiers)

    def join(form: str) -> str:
        return "".join((*german_parts, form)).capitalize()

    return Noun(
        head.english,
        head.english_plural,
        join(head.german),
        join(head.german_plural),
        head.gender,
        head.noun_class,
        join(head.oblique),
        english_parts=tuple(english for english, _ in modifiers),
        german_parts=german_parts,
    )


def build_compounds() -> tuple[list[Noun], list[Noun]]:
    """Build all compounds of two parts (place, head) and of three (place, head, tail)."""
    places = [
        (english, german)
        for english, german in (entry.split(":") for entry in tables.COMPOUND_PLACES.split())
    ]
    heads = [parse_noun(line, "opening") for line in split_entries(tables.COMPOUND_HEADS)]
    tails = [parse_noun(line, "thing") for line in split_entries(tables.COMPOUND_TAILS)]
    two_parts = [join_compound((place,), head) for head in heads for place in places]
    three_parts = [
        join_compound((place, (head.english, head.german)), tail)
        for tail in tails
        for head in heads
        for place in places
    ]
    return two_parts, three_parts


NOUNS = {
    noun_class: [parse_noun(line, noun_class) for line in split_entries(table)]
    for noun_class, table in tables.NOUN_TABLE.items()
}
VERBS = [parse_verb(line) for line in tables.VERB_TABLE.strip().split("\n")]
ADJECTIVES = {
    noun_class: parse_adjectives(table) for noun_class, table in tables.ADJECTIVE_TABLE.items()
}
for subclass, whole, members in (
    ("origin", "place", tables.ORIGINS),
    ("destination", "place", tables.DESTINATIONS),
    ("writing", "text", tables.WRITINGS),
):
    NOUNS[subclass] = [noun for noun in NOUNS[whole] if noun.english in members]
COMPOUNDS, LONG_COMPOUNDS = build_compounds()
