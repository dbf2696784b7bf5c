"""Word tables for ``lexicon``, which describes their formats."""

NOUN_TABLE = {
    "person": """
man/men Mann/Männer m; woman/women Frau/Frauen f; child/children Kind/Kinder n
teacher Lehrer/Lehrer m; boy Junge/Jungen m weak:Jungen; girl Mädchen/Mädchen n
friend Freund/Freunde m; doctor Arzt/Ärzte m
mother Mutter/Mütter f; father Vater/Väter m; neighbour Nachbar/Nachbarn m weak:Nachbarn
student Student/Studenten m weak:Studenten; sister Schwester/Schwestern f; brother Bruder/Brüder m
guest Gast/Gäste m
king König/Könige m; queen Königin/Königinnen f; farmer Bauer/Bauern m weak:Bauern
customer Kunde/Kunden m weak:Kunden
cook Koch/Köche m; aunt Tante/Tanten f; uncle Onkel/Onkel m
policeman/policemen Polizist/Polizisten m weak:Polizisten
baker Bäcker/Bäcker m; painter Maler/Maler m; colleague Kollege/Kollegen m weak:Kollegen
grandmother Großmutter/Großmütter f
grandfather Großvater/Großväter m; pupil Schüler/Schüler m; judge Richter/Richter m
soldier Soldat/Soldaten m weak:Soldaten
author Autor/Autoren m; thief/thieves Dieb/Diebe m; singer Sängerin/Sängerinnen f
expert Experte/Experten m weak:Experten
""",
    "animal": """
dog Hund/Hunde m; cat Katze/Katzen f; horse Pferd/Pferde n; bird Vogel/Vögel m; cow Kuh/Kühe f
bear Bär/Bären m weak:Bären
lion Löwe/Löwen m weak:Löwen; mouse/mice Maus/Mäuse f; wolf/wolves Wolf/Wölfe m
pig Schwein/Schweine n; duck Ente/Enten f
monkey Affe/Affen m weak:Affen; elephant Elefant/Elefanten m weak:Elefanten; goat Ziege/Ziegen f
fox Fuchs/Füchse m
rabbit Kaninchen/Kaninchen n; frog Frosch/Frösche m; tiger Tiger/Tiger m
""",
    "food": """
bread Brot/Brote n mass; apple Apfel/Äpfel m; soup Suppe/Suppen f; cake Kuchen/Kuchen m
egg Ei/Eier n; cheese Käse/Käse m mass
potato Kartoffel/Kartoffeln f; meat Fleisch/Fleisch n mass; salad Salat/Salate m
tomato Tomate/Tomaten f; rice Reis/Reis m mass
sausage Wurst/Würste f; carrot Karotte/Karotten f; banana Banane/Bananen f
cherry Kirsche/Kirschen f
""",
    "drink": """
water Wasser/Wasser n mass; coffee Kaffee/Kaffees m mass; milk Milch/Milch f mass
tea Tee/Tees m mass; juice Saft/Säfte m mass
wine Wein/Weine m mass; beer Bier/Biere n mass; lemonade Limonade/Limonaden f mass
""",
    "text": """
book Buch/Bücher n; letter Brief/Briefe m; story Geschichte/Geschichten f
newspaper Zeitung/Zeitungen f
report Bericht/Berichte m; text Text/Texte m; novel Roman/Romane m; poem Gedicht/Gedichte n
message Nachricht/Nachrichten f
article Artikel/Artikel m; magazine Zeitschrift/Zeitschriften f; recipe Rezept/Rezepte n
contract Vertrag/Verträge m
""",
    "thing": """
bag Tasche/Taschen f; picture Bild/Bilder n; gift Geschenk/Geschenke n; flower Blume/Blumen f
box Kiste/Kisten f
cup Tasse/Tassen f; bottle Flasche/Flaschen f; knife/knives Messer/Messer n
suitcase Koffer/Koffer m; plate Teller/Teller m
ticket Fahrkarte/Fahrkarten f; stone Stein/Steine m; ring Ring/Ringe m; camera Kamera/Kameras f
umbrella Regenschirm/Regenschirme m; basket Korb/Körbe m; pencil Bleistift/Bleistifte m
doll Puppe/Puppen f
mirror Spiegel/Spiegel m; spoon Löffel/Löffel m; coin Münze/Münzen f; hammer Hammer/Hämmer m
""",
    "garment": """
coat Mantel/Mäntel m; hat Hut/Hüte m; dress Kleid/Kleider n; shoe Schuh/Schuhe m
jacket Jacke/Jacken f; shirt Hemd/Hemden n
skirt Rock/Röcke m; scarf/scarves Schal/Schals m; glove Handschuh/Handschuhe m
boot Stiefel/Stiefel m
""",
    "device": """
lamp Lampe/Lampen f; computer Computer/Computer m; radio Radio/Radios n
machine Maschine/Maschinen f; oven Ofen/Öfen m
heater Heizung/Heizungen f
""",
    "vehicle": """
car Auto/Autos n; bicycle Fahrrad/Fahrräder n; bus Bus/Busse m; boat Boot/Boote n
truck Lastwagen/Lastwagen m
""",
    "opening": """
door Tür/Türen f; window Fenster/Fenster n; gate Tor/Tore n; cupboard Schrank/Schränke m
drawer Schublade/Schubladen f
""",
    "furniture": """
table Tisch/Tische m at:on; chair Stuhl/Stühle m at:on; bed Bett/Betten n at:on
sofa Sofa/Sofas n at:on
shelf/shelves Regal/Regale n at:on
""",
    "place": """
garden Garten/Gärten m at:in; city Stadt/Städte f at:in; house Haus/Häuser n at:in
school Schule/Schulen f at:in
park Park/Parks m at:in; village Dorf/Dörfer n at:in; kitchen Küche/Küchen f at:in
forest Wald/Wälder m at:in
station Bahnhof/Bahnhöfe m at:at; street Straße/Straßen f at:on; room Zimmer/Zimmer n at:in
hospital Krankenhaus/Krankenhäuser n at:in; beach Strand/Strände m at:on_an
restaurant Restaurant/Restaurants n at:in
office Büro/Büros n at:in; church Kirche/Kirchen f at:in; river Fluss/Flüsse m at:by
museum Museum/Museen n at:in
bridge Brücke/Brücken f at:on; mountain Berg/Berge m at:on; shop Laden/Läden m at:in
library Bibliothek/Bibliotheken f at:in
theatre Theater/Theater n at:in; hotel Hotel/Hotels n at:in; zoo/zoos Zoo/Zoos m at:in
cellar Keller/Keller m at:in
farm Bauernhof/Bauernhöfe m at:on; airport Flughafen/Flughäfen m at:at; lake See/Seen m at:by
factory Fabrik/Fabriken f at:in
workshop Werkstatt/Werkstätten f at:in; desert Wüste/Wüsten f at:in; stadium Stadion/Stadien n at:in
harbour Hafen/Häfen m at:in; cave Höhle/Höhlen f at:in; garage Garage/Garagen f at:in
island Insel/Inseln f at:on
bathroom Badezimmer/Badezimmer n at:in
""",
    "time": """
morning Morgen/Morgen m at:in_an; evening Abend/Abende m at:in_an; night Nacht/Nächte f at:in
afternoon Nachmittag/Nachmittage m at:in_an; Monday Montag/Montage m at:on_an bare
Sunday Sonntag/Sonntage m at:on_an bare
Friday Freitag/Freitage m at:on_an bare; Saturday Samstag/Samstage m at:on_an bare
Wednesday Mittwoch/Mittwoche m at:on_an bare
summer Sommer/Sommer m at:in; winter Winter/Winter m at:in
""",
}

VERB_TABLE = """
see:saw:seen | sehen:sieht:sah:gesehen | person animal > person animal place thing vehicle | stative
read:read:read | lesen:liest:las:gelesen | person > text | manner=voice
eat:ate:eaten | essen:isst:aß:gegessen | person > food | manner=move
buy:bought:bought | kaufen | person > thing food text garment drink device vehicle opening | benefit
help | helfen:hilft:half:geholfen | person > person | case=dat manner=patience
call | an+rufen:ruft:rief:gerufen | person > person | stative
drink:drank:drunk | trinken:trinkt:trank:getrunken | person > drink | manner=move
sleep:slept:slept | schlafen:schläft:schlief:geschlafen | person animal > | manner=skill
open | auf+machen | person > opening | manner=care
write:wrote:written|schreiben:schreibt:schrieb:geschrieben|person > writing|benefit manner=care
visit | besuchen | person > person place | stative
work | arbeiten | person > | manner=skill
love | lieben | person > person animal | stative
look:looked:looked | suchen | person animal > person animal thing garment | prep=for_
find:found:found|finden:findet:fand:gefunden|person > thing garment text animal person|manner=move
pick:picked:picked_up | ab+holen | person > person | stative
invite | ein+laden:lädt:lud:geladen | person > person | stative
close | zu+machen | person > opening | manner=care
laugh | lachen | person > | manner=voice
sing:sang:sung | singen:singt:sang:gesungen | person > | manner=voice
ask | fragen | person > person | stative
run:ran:run | laufen:läuft:lief:gelaufen | person animal > | sein manner=move
wait | warten | person animal > person | prep=for_auf manner=patience
arrive | an+kommen:kommt:kam:gekommen | person > | sein
carry | tragen:trägt:trug:getragen | person > thing | manner=care
lose:lost:lost | verlieren:verliert:verlor:verloren | person > thing garment text |
sell:sold:sold | verkaufen | person > thing food garment vehicle device text |
turn:turned:turned_on | ein+schalten | person > device | manner=care
turn:turned:turned_off | aus+schalten | person > device | manner=care
hear:heard:heard | hören | person animal > person animal | stative
watch | beobachten | person animal > person animal | manner=care
follow | folgen | person animal > person animal | case=dat sein manner=move
put:put:put_on | an+ziehen:zieht:zog:gezogen | person > garment | manner=move
take:took:taken_off | aus+ziehen:zieht:zog:gezogen | person > garment | manner=move
get:got:got_up | auf+stehen:steht:stand:gestanden | person > | sein manner=move
dance | tanzen | person > | manner=skill
thank | danken | person > person | case=dat stative
understand:understood:understood|verstehen:versteht:verstand:verstanden|person > person text|stative
meet:met:met | treffen:trifft:traf:getroffen | person > person | manner=move
play | spielen | person > | manner=skill
bring:brought:brought_along | mit+bringen:bringt:brachte:gebracht | person > thing text drink food |
listen | zu+hören | person > person | case=dat prep=to_ manner=patience
throw:threw:thrown_away|weg+werfen:wirft:warf:geworfen|person > text thing garment food|manner=move
look:looked:looked|an+sehen:sieht:sah:gesehen|person > person animal thing|prep=at_ manner=care
die | sterben:stirbt:starb:gestorben | person animal > | sein once
swim:swam:swum | schwimmen:schwimmt:schwamm:geschwommen | person animal > | sein manner=move
know:knew:known | kennen:kennt:kannte:gekannt | person > person place | stative
need | brauchen | person > thing garment text person | stative
cook | kochen | person > food | benefit manner=skill
repair | reparieren | person > device vehicle opening | manner=skill
wash | waschen:wäscht:wusch:gewaschen | person > garment vehicle | manner=care
order | bestellen | person > food drink text garment | benefit
draw:drew:drawn | zeichnen | person > animal place person | manner=skill
feed:fed:fed | füttern | person > animal | manner=care
bite:bit:bitten | beißen:beißt:biss:gebissen | animal > person animal | stative
chase | jagen | animal > animal person | stative
talk | sprechen:spricht:sprach:gesprochen | person > person | prep=to_mit manner=voice
belong | gehören | thing garment text vehicle device > person | case=dat prep=to_ stative
forget:forgot:forgotten|vergessen:vergisst:vergaß:vergessen|person > thing text garment|stative
steal:stole:stolen | stehlen:stiehlt:stahl:gestohlen | person > thing vehicle garment | manner=move
wake:woke:woken_up | auf+wachen | person animal > | sein
cry | weinen | person > | manner=voice
come:came:come_back | zurück+kommen:kommt:kam:gekommen | person animal > | sein manner=move
hide:hid:hidden | verstecken | person > thing text | manner=care
greet | begrüßen | person > person | stative
give:gave:given_back | zurück+geben:gibt:gab:gegeben | person > thing text |
disappear | verschwinden:verschwindet:verschwand:verschwunden | person animal > | sein manner=move
smile | lächeln | person > | stative
answer | antworten | person > person | case=dat manner=voice
trust | vertrauen | person > person | case=dat stative
photograph | fotografieren | person > person animal place | stative
describe | beschreiben:beschreibt:beschrieb:beschrieben | person > person place thing | manner=care
hate | hassen | person > person animal | stative
admire | bewundern | person > person place | stative
try:tried:tried_on | an+probieren | person > garment | manner=care
prepare | vor+bereiten:bereitet:bereitete:bereitet | person > food writing | manner=care
translate | übersetzen | person > writing | manner=skill
fly:flew:flown | fliegen:fliegt:flog:geflogen | cue > | sein
jump | springen:springt:sprang:gesprungen | person animal > | sein
protect | beschützen | person animal > person animal | stative
think:thought:thought | denken:denkt:dachte:gedacht | person > person place | prep=of_an stative
go:went:gone_out | aus+gehen:geht:ging:gegangen | person > | sein
write:wrote:written_down|auf+schreiben:schreibt:schrieb:geschrieben|person > writing|manner=care
congratulate | gratulieren | person > person | case=dat stative
warn | warnen | person > person | manner=voice
surprise | überraschen | person > person | stative
doze:dozed:dozed_off | ein+schlafen:schläft:schlief:geschlafen | person animal > | sein
publish | veröffentlichen | person > text | stative
burn | brennen:brennt:brannte:gebrannt | cue > | stative
drip:dripped:dripped | tropfen | cue > | stative
crow | krähen | cue > | stative
wither | verwelken | cue > | sein stative
hum:hummed:hummed | summen | cue > | stative
give:gave:given | geben:gibt:gab:gegeben | person > thing text food drink | iobj
show:showed:shown | zeigen | person > thing text place animal | iobj
send:sent:sent | schicken | person > text thing | iobj
lend:lent:lent | leihen:leiht:lieh:geliehen | person > vehicle thing text garment | iobj
bring:brought:brought | bringen:bringt:brachte:gebracht | person > food drink thing text | iobj
go:went:gone | gehen:geht:ging:gegangen | person animal > | sein motion
come:came:come | kommen:kommt:kam:gekommen | person animal > | sein motion
drive:drove:driven | fahren:fährt:fuhr:gefahren | person > | sein motion
travel:travelled:travelled | reisen | person > | sein motion
say:said:said | sagen | person > | that
believe | glauben | person > | that
hope | hoffen | person > | that
hear:heard:heard | hören | person > | that
claim | behaupten | person > | that
notice | bemerken | person > | that
dream | träumen | person > | that
explain | erklären | person > | that
"""

ADJECTIVE_TABLE = {
    "person": """
old alt; young jung; happy~unhappy glücklich; friendly~unfriendly freundlich; tired müde müd
clever klug; sad traurig
patient~impatient geduldig; sick krank; rich reich; polite~impolite höflich; famous berühmt
honest~dishonest ehrlich
angry wütend; poor arm; nice nett; satisfied~dissatisfied zufrieden; hungry hungrig; brave mutig
lazy faul
popular~unpopular beliebt; nervous nervös
""",
    "animal": """
big groß; small klein; black schwarz; hungry hungrig; white weiß; old alt; dangerous gefährlich
tired müde müd; young jung
brown braun; thirsty durstig; strong stark
""",
    "food": """
good gut; fresh frisch; cold kalt; hot heiß; delicious lecker; sweet süß; healthy~unhealthy gesund
salty salzig
""",
    "drink": """
cold kalt; hot heiß; good gut; fresh frisch; healthy~unhealthy gesund
""",
    "text": """
new neu; long lang; interesting interessant; important~unimportant wichtig; short kurz
clear~unclear klar; boring langweilig
famous berühmt; known~unknown bekannt; secret geheim
""",
    "thing": """
small klein; new neu; old alt; big groß; red rot; beautiful schön; heavy schwer
expensive teuer teur; blue blau; green grün
cheap billig; yellow gelb; dirty schmutzig; ugly hässlich
""",
    "garment": """
new neu; warm warm; red rot; old alt; black schwarz; comfortable~uncomfortable bequem; blue blau
expensive teuer teur
white weiß; dirty schmutzig; elegant elegant
""",
    "device": """
new neu; old alt; modern modern; expensive teuer teur; broken kaputt; safe~unsafe sicher; loud laut
""",
    "vehicle": """
new neu; red rot; old alt; small klein; fast schnell; safe~unsafe sicher; expensive teuer teur
blue blau; slow langsam
""",
    "opening": """
old alt; big groß; new neu; small klein; white weiß; heavy schwer; green grün
""",
    "furniture": """
big groß; old alt; new neu; brown braun; comfortable~uncomfortable bequem
""",
    "place": """
old alt; small klein; big groß; beautiful schön; famous berühmt; quiet ruhig; modern modern
dark dunkel dunkl; empty leer
known~unknown bekannt; popular~unpopular beliebt; dirty schmutzig
""",
    "cue": """
closed geschlossen; rich reich; comfortable bequem; wet nass; steep steil; muddy schlammig
rusty rostig; broken kaputt
haunted verwunschen; royal königlich; fragrant duftend; high hoch hoh; soft weich; ripe reif
venomous giftig; endless endlos
strict streng; fair gerecht; deep tief; expensive teuer teur; genuine echt; loose locker
exciting spannend; empty leer
full voll; armoured gepanzert; hungry hungrig; thirsty durstig; delicious lecker; salty salzig
boring langweilig; loud laut
healthy gesund; warm warm; bright hell; sweet süß
""",
}

# English word and German linking form of the first part.
COMPOUND_PLACES = (
    "house:haus garden:garten kitchen:küchen cellar:keller school:schul hotel:hotel office:büro "
    "church:kirchen garage:garagen"
)
COMPOUND_HEADS = """
door Tür/Türen f; window Fenster/Fenster n; cupboard Schrank/Schränke m
"""
COMPOUND_TAILS = """
key Schlüssel/Schlüssel m; handle Griff/Griffe m; frame Rahmen/Rahmen m
"""

PREPOSITION_TABLE = """

in:in:dat on:auf:dat at:an:dat by:an:dat on_an:an:dat in_an:an:dat into:in:acc to:zu:dat
to_nach:nach:dat with:mit:dat without:ohne:acc
for:für:acc from:aus:dat about:über:acc under:unter:dat behind:hinter:dat beside:neben:dat
for_auf:auf:acc to_mit:mit:dat of_an:an:acc to_::dat at_::acc for_::acc
"""

# People, animals and places without an owner: no "my king", no "her tiger", no "our forest".
UNOWNED = set(
    "man woman boy girl king queen policeman soldier thief judge expert painter author singer "
    "baker pupil farmer bear lion mouse wolf monkey elephant fox frog tiger forest station street "
    "hospital beach church river museum bridge mountain "
    "theatre zoo airport lake stadium harbour cave island desert library".split()
)
# Places that people come from.
ORIGINS = set("city village school museum factory office hotel restaurant shop theatre".split())
# Places that people drive and travel to.
DESTINATIONS = set(
    "city village forest station hospital airport factory harbour farm zoo museum stadium".split()
)
# Texts with a single author.
WRITINGS = set("letter story report text novel poem message article recipe".split())
