"""List nouns that are ambiguous in one language, with the translation and the cues of each sense.

The adjectives, verbs and places of a sense belong to no other sense of the same word. So either
text alone determines the sense: by the meaning of the words (a steep bank), or by a convention of
this corpus that a model can learn (a bank in the city is one with money).
"""

from dataclasses import dataclass

from repro.generated.minigerman.lexicon import ADJECTIVES, NOUNS, VERBS, parse_noun
from repro.generated.minigerman.words import Adjective, Noun, Verb

# Noun line | adjectives | verbs | places.
SENSE_TABLE = """
castle Schloss/Schlösser n | haunted royal | | mountain island
lock Schloss/Schlösser n | rusty broken | | workshop cellar
bank Bank/Banken f | closed rich | | city airport
bench Bank/Bänke f | wet comfortable | | park garden
bank Ufer/Ufer n | steep muddy | | lake forest
ostrich Strauß/Strauße m | hungry thirsty | run sleep | desert zoo
bouquet Strauß/Sträuße m | fragrant | wither | church restaurant
ceiling Decke/Decken f | high | | museum theatre
blanket Decke/Decken f | soft warm | | hospital hotel
pear Birne/Birnen f | ripe sweet | | garden farm
bulb Birne/Birnen f | bright broken | | office cellar
rooster Hahn/Hähne m | hungry thirsty | crow run | farm village
tap Hahn/Hähne m | rusty broken | drip | kitchen bathroom
snake Schlange/Schlangen f | venomous | sleep | forest desert
queue Schlange/Schlangen f | endless | | airport station
court Gericht/Gerichte n | strict fair | | city village
dish Gericht/Gerichte n | delicious salty | | restaurant kitchen
feather Feder/Federn f | soft fragrant | | forest farm
spring Feder/Federn f | rusty broken | | workshop factory
spring Quelle/Quellen f | deep muddy | | mountain island
bat Fledermaus/Fledermäuse f | hungry venomous | fly sleep | cave forest
bat Schläger/Schläger m | broken expensive | | stadium school
seal Robbe/Robben f | hungry thirsty | swim sleep | zoo island
seal Siegel/Siegel n | genuine royal | | museum office
crane Kranich/Kraniche m | hungry thirsty | fly sleep | lake zoo
crane Kran/Kräne m | rusty broken | | harbour factory
nut Nuss/Nüsse f | delicious salty | | kitchen restaurant
nut Schraubenmutter/Schraubenmuttern f | rusty loose | | workshop garage
match Spiel/Spiele n | boring exciting | | stadium school
match Streichholz/Streichhölzer n | wet | burn | kitchen cellar
fan Fan/Fans m | hungry thirsty | sing | stadium theatre
fan Ventilator/Ventilatoren m | broken expensive | hum | office factory
organ Orgel/Orgeln f | loud expensive | | church theatre
organ Organ/Organe n | healthy | | hospital
tank Panzer/Panzer m | armoured | burn | desert bridge
tank Tank/Tanks m | full empty | | garage workshop
"""


@dataclass(frozen=True, eq=False, slots=True)
class Sense:
    """A sense of an ambiguous noun with the words that settle it."""

    noun: Noun
    adjectives: tuple[Adjective, ...]
    verbs: tuple[Verb, ...]
    places: tuple[Noun, ...]


def parse_senses() -> list[Sense]:
    """Parse the table of senses; every cue must be a word of the lexicon."""
    adjectives = {adjective.english: adjective for adjective in ADJECTIVES["cue"]}
    verbs = {
        verb.english[0]: verb for verb in VERBS if not verb.objects and not verb.english_particle
    }
    places = {noun.english: noun for noun in NOUNS["place"]}
    senses = []
    for line in SENSE_TABLE.strip().split("\n"):
        noun, *cues = (field.strip() for field in line.split("|"))
        its_adjectives, its_verbs, its_places = (cue.split() for cue in cues)
        sense = Sense(
            parse_noun(noun, "ambiguous"),
            tuple(adjectives[word] for word in its_adjectives),
            tuple(verbs[word] for word in its_verbs),
            tuple(places[word] for word in its_places),
        )
        senses.append(sense)
    return senses


SENSES = parse_senses()


def other_senses(noun: Noun, target: str) -> list[Noun]:
    """Return the nouns that a translator without context may confuse with this one.

    Args:
        noun: an ambiguous noun.
        target: language of the translation, ``de`` or ``en``.
    """
    if target == "de":
        return [
            sense.noun
            for sense in SENSES
            if sense.noun.english == noun.english and sense.noun is not noun
        ]
    return [
        sense.noun
        for sense in SENSES
        if sense.noun.german == noun.german and sense.noun is not noun
    ]
