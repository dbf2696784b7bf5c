"""German word lists for the rules of this package: closed classes, common verbs and adjectives."""

# fmt: off
SINGULAR_DETERMINERS = {  # that can open a subject; those in -e also stand before plurals
    "ein", "eine", "der", "die", "das", "dieser", "diese", "dieses", "jener", "jene", "jenes",
    "jeder", "jede", "jedes", "kein", "keine", "mein", "meine", "dein", "deine", "sein", "seine",
    "ihr", "ihre", "unser", "unsere", "euer", "eure",
}
PLURAL_DETERMINERS = {
    "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
    "mehrere", "viele", "einige", "alle", "beide", "manche", "wenige", "zahlreiche", "verschiedene",
    "die", "diese", "jene", "keine", "meine", "deine", "seine", "ihre", "unsere", "eure",
}
OTHER_DETERMINERS = {
    "dem", "den", "des", "einem", "einen", "einer", "eines", "diesem", "diesen", "seinem", "seinen",
    "seiner", "seines", "ihrem", "ihren", "ihrer", "ihres", "keinem", "keinen", "keiner", "meinem",
    "meinen", "meiner", "unserem", "unseren", "unserer", "jedem", "jeden", "deinem", "deinen",
    "deiner", "etwas", "viel", "allen", "beiden", "vielen", "mehreren", "einigen",
}
DETERMINERS = SINGULAR_DETERMINERS | PLURAL_DETERMINERS | OTHER_DETERMINERS
BARE_PLURALS = {
    "leute", "menschen", "männer", "frauen", "kinder", "personen", "jungen", "mädchen",
    "jugendliche", "arbeiter", "passanten", "touristen", "zuschauer", "soldaten", "freunde",
    "hunde", "fußgänger", "musiker", "fahrradfahrer", "radfahrer",
}
DATIVE_PREPOSITIONS = {  # "der" after them is the feminine singular
    "mit", "von", "aus", "bei", "nach", "zu", "in", "an", "auf", "unter", "über", "vor", "hinter",
    "neben", "zwischen", "gegenüber",
}
CONTRACTIONS = {"im", "ins", "am", "ans", "aufs", "beim", "vom", "zum", "zur"}
# "nicht" may precede these.
NEGATABLE = DATIVE_PREPOSITIONS - {"gegenüber"} | CONTRACTIONS | {"für", "durch", "gegen"}
PREPOSITIONS = NEGATABLE | {
    "gegenüber", "ohne", "um", "entlang", "wegen", "trotz", "inmitten", "innerhalb", "außerhalb",
    "vorm", "durchs",
}
THIRD_PERSON_PRONOUNS = {"er", "man", "jemand"}  # singular subjects and nothing else
NOMINATIVE_PRONOUNS = {"ich", "du", "er", "sie", "es", "wir", "ihr", "man"}
OBJECT_PRONOUNS = {
    "mich", "dich", "sich", "uns", "euch", "mir", "dir", "ihm", "ihn", "ihnen", "das", "dies",
    "etwas", "einander",
}
PRONOUNS = NOMINATIVE_PRONOUNS | OBJECT_PRONOUNS | {
    "jemand", "niemand", "alles", "jeder", "keiner", "wer",
}
CONJUNCTIONS = {"und", "oder", "aber", "denn", "sondern", "doch", "sowie", "als", "wie"}
# With these and question words, the finite verb is not the second part of the sentence, or the
# sentence is a question.
SUBORDINATORS = {
    "weil", "wenn", "als", "dass", "daß", "nachdem", "während", "obwohl", "ob", "bevor", "falls",
    "da", "sobald", "solange", "wie", "was", "wer", "wo", "warum", "weshalb", "wann", "wem", "wen",
    "welcher", "welche", "welches", "wohin", "woher", "indem", "seitdem", "bis", "damit", "sodass",
    "ehe", "seit", "je", "um", "ohne", "anstatt", "statt", "wessen", "womit", "wofür", "worauf",
    "wieso", "und",
}
NEGATIVE = {
    "nicht", "nichts", "nie", "niemals", "niemand", "niemanden", "niemandem", "nirgends",
    "nirgendwo", "kaum", "weder", "ohne", "selten", "keinesfalls", "keineswegs", "kein", "keine",
    "keinen", "keinem", "keiner", "keines", "keins",
}
FOCUS = {  # "nicht" would follow these, or change their meaning
    "auch", "nur", "schon", "noch", "doch", "ja", "nein", "mal", "eben", "halt", "bloß", "nun",
    "wohl", "also", "so", "dran", "los",
}

# Endings of nouns that take a plural verb even in the singular ("eine Reihe von Leuten stehen"), so
# that neither number is an error.
QUANTITIES = (
    "gruppe", "menge", "reihe", "anzahl", "hälfte", "teil", "paar", "dutzend", "haufen", "handvoll",
    "mehrheit", "mehrzahl", "schar", "masse", "vielzahl", "drittel", "viertel", "prozent", "unzahl",
    "hundert", "tausend", "mischung", "sammlung", "crew",
)
MEASURES = {  # these may open a sentence without being its subject
    "Tag", "Tages", "Woche", "Wochen", "Monat", "Monate", "Jahr", "Jahre", "Mal", "Morgen", "Abend",
    "Nachmittag", "Nacht", "Minute", "Minuten", "Stunde", "Stunden", "Sekunde", "Sommer", "Winter",
    "Herbst", "Frühling", "Moment", "Augenblick", "Zeit", "Weile", "Tage", "Meter", "Kilometer",
    "Grad", "Euro", "Dollar", "Cent", "Liter", "Kilo",
}
# Endings of nouns with two genders, by sense or by usage.
TWO_GENDERS = (
    "band", "mark", "kiefer", "leiter", "see", "steuer", "heide", "flur", "weise", "wehr", "otter",
    "cola", "mail", "hut", "marsch", "mast", "koppel", "partikel", "spachtel", "maß", "mangel",
    "kunde", "haft", "couch", "gischt", "paprika", "matte", "alp", "sms", "blog", "tram", "drittel",
    "buffet", "foto", "match", "event",
)
SINGULAR_FEMININE = ("ung", "heit", "keit", "schaft", "tion", "tät")  # endings
# "der Sprung", "der Schaft". Feminine nouns in -schaft are longer.
NOT_FEMININE = ("sprung", "schwung", "dung", "schaft")
# Endings of neuters whose plural may look the same.
LIKE_PLURALS = ("e", "er", "el", "en", "n", "chen", "lein")

AUXILIARIES = {  # third person, singular: plural
    "ist": "sind", "war": "waren", "hat": "haben", "hatte": "hatten", "wird": "werden",
    "wurde": "wurden", "kann": "können", "konnte": "konnten", "muss": "müssen", "musste": "mussten",
    "will": "wollen", "wollte": "wollten", "soll": "sollen", "sollte": "sollten", "darf": "dürfen",
    "durfte": "durften", "mag": "mögen", "würde": "würden", "könnte": "könnten", "wäre": "wären",
    "hätte": "hätten", "möchte": "möchten",
}
HABEN_SEIN = {
    "habe": "bin", "hast": "bist", "hat": "ist", "haben": "sind", "habt": "seid", "hatte": "war",
    "hattest": "warst", "hatten": "waren",
}
OTHER_PERSONS = set("""bin bist seid habe hast habt hattest warst werde wirst kannst musst willst
sollst darfst magst könnt müsst""".split())
COPULAS = {"ist", "sind", "war", "waren", "bin", "bist", "seid", "warst"}
PERFECT = set(HABEN_SEIN) | set(HABEN_SEIN.values())
MODALS = ({form for pair in AUXILIARIES.items() for form in pair} | OTHER_PERSONS) - PERFECT

# Stems with -t in the singular and -en in the plural of the present; the weak ones have -te and
# -ten in the past.
_WEAK = """spiel mach schau blick zeig versuch benutz lehn rutsch leg hüpf renn surf tauch koch lach
rauch jag hock küss putz kauf schütz hör hol frag sag wohn leb lieb brauch kenn schenk glaub besuch
erzähl erklär verkauf bestell bezahl zahl such führ wünsch dreh streck setz stell tanz mal bau weck
still fühl lern lehr üb turn grüß pack park dien fehl folg hoff guck schnitz näh blüh begrüß füll
stürz kratz schwitz klopf kämpf reis lös pflück schick drück bück erreich bemerk merk wirk schmeck
steck pfleg wink wisch fisch schweb lutsch häng kehr pust stütz steuer tipp telefonier fotografier
posier balancier reparier jonglier studier probier diskutier trainier musizier marschier demonstrier
präsentier passier"""
_STRONG = """steh geh sitz trink spring sing lieg reit zieh schieb steig flieg schreib bleib komm
schwimm kling heb genieß gieß schieß schließ fließ schwing bring denk beginn gewinn verlier riech
ruf"""
# Endings -et, -ete.
_DENTAL = """arbeit wart red bet beobacht betracht öffn zeichn rechn atm leucht trockn falt miet
antwort bedeut"""
_STRONG_DENTAL = "reit schneid biet find bind befind streit leid"
# Endings -t, -n.
_LIQUID = """lächel kletter wander schaukel sammel feier angel segel paddel kicher plauder fütter
zitter wechsel klingel schüttel"""
_VOWEL_CHANGE = {
    "fährt": "fahren", "trägt": "tragen", "schläft": "schlafen", "fängt": "fangen",
    "hält": "halten", "läuft": "laufen", "schlägt": "schlagen", "fällt": "fallen",
    "lässt": "lassen", "wäscht": "waschen", "bläst": "blasen", "lädt": "laden", "sieht": "sehen",
    "liest": "lesen", "isst": "essen", "spricht": "sprechen", "hilft": "helfen", "nimmt": "nehmen",
    "gibt": "geben", "wirft": "werfen", "trifft": "treffen", "tritt": "treten", "bricht": "brechen",
    "stirbt": "sterben", "vergisst": "vergessen", "wächst": "wachsen", "gräbt": "graben",
    "brät": "braten", "stößt": "stoßen", "frisst": "fressen", "betritt": "betreten",
    "verlässt": "verlassen", "kniet": "knien", "schreit": "schreien", "tut": "tun",
    "unterhält": "unterhalten", "enthält": "enthalten", "bekommt": "bekommen",
}
_PAST = """ging kam sah stand saß lag fuhr lief hielt trug nahm gab fand sprach schrieb las aß trank
schlief sang sprang schwamm flog fiel zog rief ließ half warf traf blieb begann schien wusste dachte
brachte kannte rannte nannte verlor gewann schlug fing verließ bekam verstand vergaß starb schnitt
ritt stieg schloss schoss bat log hing tat"""  # plural in -en, or -n after e
_IRREGULAR_WEAK = {"kenn", "renn", "häng"}
FULL_VERBS = (  # third person, singular: plural
    {f"{stem}t": f"{stem}en" for stem in f"{_WEAK} {_STRONG}".split()}
    | {f"{stem}te": f"{stem}ten" for stem in set(_WEAK.split()) - _IRREGULAR_WEAK}
    | {f"{stem}et": f"{stem}en" for stem in f"{_DENTAL} {_STRONG_DENTAL}".split()}
    | {f"{stem}ete": f"{stem}eten" for stem in _DENTAL.split()}
    | {f"{stem}t": f"{stem}n" for stem in _LIQUID.split()}
    | {f"{stem}te": f"{stem}ten" for stem in _LIQUID.split()}
    | _VOWEL_CHANGE
    | {form: form + ("n" if form.endswith("e") else "en") for form in _PAST.split()}
)
TO_PLURAL = FULL_VERBS | AUXILIARIES
TO_SINGULAR = {plural: singular for singular, plural in TO_PLURAL.items()}
FINITE = set(TO_PLURAL) | set(TO_SINGULAR) | OTHER_PERSONS

PARTICLES = {
    "ab", "an", "auf", "aus", "bei", "ein", "fest", "fort", "her", "herum", "herunter", "hin",
    "hinunter", "hinauf", "hoch", "los", "mit", "nach", "um", "vor", "vorbei", "weg", "weiter",
    "zu", "zurück", "zusammen", "entlang", "heraus", "hinaus", "herein", "hinein",
}
FOREIGN_PARTICLES = ("statt", "teil", "preis", "inne")  # few verbs have these; see below
FOREIGN_VERBS = (
    "find", "fand", "gib", "geb", "gab", "nimm", "nehm", "nahm", "halt", "hält", "hielt", "wohn",
    "mach",
)

# Participles of verbs that form the perfect with sein alone, also behind a separable particle
# ("weggegangen").
SEIN_PARTICIPLES = (
    "gegangen", "gekommen", "geblieben", "gewesen", "geworden", "gestorben", "gestiegen",
    "aufgewacht", "aufgestanden", "eingeschlafen", "verschwunden", "ertrunken", "gewachsen",
    "gereist", "gewandert", "geflohen", "geschehen", "gesunken", "gerannt", "erschienen",
    "gestolpert", "zurückgekehrt", "eingetroffen", "passiert", "gelungen", "explodiert",
)
# Haben or sein depends on the sense or the region.
BOTH_PARTICIPLES = (
    "gefahren", "geflogen", "geschwommen", "geritten", "gefolgt", "getreten", "gestanden",
    "gesessen", "gelegen", "gezogen", "gebrochen", "geheilt", "getrocknet", "begegnet", "gelaufen",
    "gesprungen", "gefallen", "gelandet", "gestartet", "geklettert", "getanzt", "gejoggt",
    "verdorben", "gestoßen", "geschmolzen", "gealtert", "begonnen", "gesegelt", "gestürzt",
    "geirrt", "getaucht", "verheilt",
)

# Adjectives whose form with un- means the opposite and nothing else.
UN_STEMS = set("""abhängig angenehm anständig appetitlich artig aufmerksam ausgeglichen bedeutend
bedenklich bekannt beliebt bequem beschädigt bewaffnet beweglich bewohnt bewusst demokratisch
deutlich diszipliniert echt effektiv ehrlich erfreulich erträglich erwünscht fähig fair freiwillig
freundlich fruchtbar geduldig geeignet gefährlich gerecht gern gesund gewöhnlich giftig glaubwürdig
gleichmäßig glücklich günstig höflich interessant kompliziert klar klug kontrolliert leserlich
logisch menschlich moralisch möglich natürlich nötig nützlich ordentlich passend persönlich
pünktlich realistisch regelmäßig reif sauber scharf schädlich schuldig schön sicher sichtbar sinnig
sportlich sterblich sympathisch treu trennbar verantwortlich verdächtig verheiratet verletzt
vernünftig verschämt verständlich verwundbar verzeihlich vollständig vorsichtig wahr wahrscheinlich
wichtig wirksam würdig zufrieden zulässig zuverlässig zerstörbar übersichtlich überwindbar
üblich""".split())
# fmt: on
ADJECTIVE_ENDINGS = ("", "e", "er", "es", "en", "em")
