"""Gold trees from CoNLL-U, and syntactic heads measured on them without a parser."""

import pytest

from repro.analysis.syntax import RELATIONS, Arc, find_arcs
from repro.analysis.treebanks import FOLDER, load_pud, read_conllu
from repro.errors import InputError, MachineError
from repro.measures.heads import describe_heads
from repro.runs import gallery

GERMAN = """\
# sent_id = 1
# text = Zum Hund läuft die „alte“ Katze.
1-2\tZum\t_\t_\t_\t_\t_\t_\t_\t_
1\tZu\tzu\tADP\t_\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_
3\tHund\tHund\tNOUN\t_\t_\t4\tobl\t_\t_
4\tläuft\tlaufen\tVERB\t_\t_\t0\troot\t_\t_
5\tdie\tder\tDET\t_\t_\t9\tdet\t_\t_
6\t„\t„\tPUNCT\t_\t_\t7\tpunct\t_\tSpaceAfter=No
7\talte\talt\tADJ\t_\t_\t9\tamod\t_\tSpaceAfter=No
8\t“\t“\tPUNCT\t_\t_\t7\tpunct\t_\t_
8.1\tnie\tnie\tADV\t_\t_\t_\t_\t_\t_
9\tKatze\tKatze\tNOUN\t_\t_\t4\tnsubj\t_\tSpaceAfter=No
10\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_

# text = Er wird es sehen
1\tEr\ter\tPRON\t_\t_\t4\tnsubj:pass\t_\t_
2\twird\twerden\tAUX\t_\t_\t4\taux\t_\t_
3\tes\tes\tPRON\t_\t_\t4\tobj\t_\t_
4\tsehen\tsehen\tVERB\t_\t_\t0\troot\t_\t_
"""


def test_trees_are_read_with_contractions_and_without_empty_nodes(tmp_path) -> None:
    path = tmp_path / "de.conllu"
    path.write_text(GERMAN, "utf-8")
    (text, tree), (second, other) = read_conllu(path)
    assert text == "Zum Hund läuft die „alte“ Katze." and second == "Er wird es sehen"
    assert tree.words == ("Zum", "", "Hund", "läuft", "die", "„", "alte", "“", "Katze", ".")
    assert tree.heads == (2, 2, 3, -1, 8, 6, 8, 6, 3, 3)
    # words by spaces: „alte“ is one, and "Katze." is another
    assert find_arcs(text, tree) == [Arc("amod", 5, 4), Arc("nsubj", 2, 5)]
    assert find_arcs(second, other) == [Arc("dobj", 3, 2)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tobl\t_\t_", "\tobl", "de.conllu:6: has 8 columns, not 10"),
        ("# text = Zum Hund läuft die „alte“ Katze.\n", "", "has a tree without its sentence"),
        ("\t4\tobl", "\tx\tobl", "de.conllu:2: has a row 3 without numbers"),
        ("\t4\tobl", "\t44\tobl", "de.conllu:2: has a head that is no word"),
    ],
)
def test_malformed_files_are_refused_with_their_line(tmp_path, old, new, message) -> None:
    path = tmp_path / "de.conllu"
    path.write_text(GERMAN.replace(old, new), "utf-8")
    with pytest.raises(InputError, match=message):
        list(read_conllu(path))


def test_heads_are_measured_on_the_trees_of_pud(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("REPRO_DATA", str(tmp_path))
    (tmp_path / FOLDER).mkdir()
    rows = [
        "# text = The old man sees a dog .",
        "1\tThe\t_\t_\t_\t_\t3\tdet\t_\t_",
        "2\told\t_\t_\t_\t_\t3\tamod\t_\t_",
        "3\tman\t_\t_\t_\t_\t4\tnsubj\t_\t_",
        "4\tsees\t_\t_\t_\t_\t0\troot\t_\t_",
        "5\ta\t_\t_\t_\t_\t6\tdet\t_\t_",
        "6\tdog\t_\t_\t_\t_\t4\tobj\t_\t_",
        "7\t.\t_\t_\t_\t_\t4\tpunct\t_\t_",
    ]
    (tmp_path / FOLDER / "en_pud-ud-test.conllu").write_text("\n".join(rows) + "\n\n", "utf-8")
    record = describe_heads(
        gallery.load("base"), limit=3, treebank="PUD", relevance_sentences=1, quiet=True
    )
    assert record["measured"]["parses"] == "gold trees of PUD, 1 sentences"
    assert record["measured"]["sentences"] == 3
    assert record["syntax"]["positions"] == {
        "nsubj": {"-1": 1},
        "dobj": {"2": 1},
        "amod": {"-1": 1},
        "advmod": {},
    }


def test_an_absent_treebank_says_where_it_belongs(monkeypatch) -> None:
    monkeypatch.delenv("REPRO_DATA", raising=False)
    with pytest.raises(MachineError, match=f"REPRO_DATA/{FOLDER}/"):
        load_pud("en", "tatoeba")


@pytest.mark.real_data
@pytest.mark.parametrize("language", ["en", "de"])
def test_the_published_trees_belong_to_their_sentences(real_data, language) -> None:
    sentences, parses = load_pud(language, "tatoeba")
    assert len(sentences) == len(parses) == 1_000
    counts = dict.fromkeys(RELATIONS, 0)
    for sentence, parse in zip(sentences, parses, strict=True):
        for arc in find_arcs(sentence, parse):
            counts[arc.relation] += 1
    assert min(counts.values()) > 800
