"""A run for CTranslate2: what it cannot hold is refused, what it holds is translated alike."""

import pytest
from command_line import refused, run
from sentencepiece import SentencePieceProcessor

from repro.core.decoding import SearchConfig
from repro.presets import resolve
from repro.runs import gallery
from repro.runs.ctranslate2 import check_fits
from repro.runs.models import load_translator

SENTENCES = ["The old man sees a dog.", "A woman reads the book in the garden.", "The dog sleeps."]


def test_what_ctranslate2_cannot_hold_is_refused(tmp_path, capsys):
    told = refused(capsys, "export", "gallery/hc-sa", "--out", str(tmp_path / "out"))[1]
    assert "hc-sa: has model.encoder_self=gaussian, and CTranslate2 holds dot-product alone" in told
    check_fits(resolve("smoke").model, "base")


def test_ctranslate2_translates_as_the_run_does(tmp_path, capsys):
    ctranslate2 = pytest.importorskip("ctranslate2")
    (said,) = run(capsys, "export", "gallery/base", "--out", str(tmp_path / "out"))
    assert (
        said == str(tmp_path / "out")
        and "length_penalty=1" in (tmp_path / "out/README.txt").read_text()
    )
    ours = load_translator(gallery.load("base"))
    theirs = ctranslate2.Translator(said, compute_type="float32")
    pieces = [ours.subwords.pieces(sentence) for sentence in SENTENCES]
    for beam in (1, 5):
        wanted = [
            hypothesis.ids for hypothesis in ours.search(SENTENCES, SearchConfig(beam=beam), True)
        ]
        found = theirs.translate_batch(pieces, beam_size=beam, length_penalty=1)
        names = SentencePieceProcessor(model_proto=ours.subwords.model).id_to_piece
        assert [one.hypotheses[0] for one in found] == [[names(i) for i in ids] for ids in wanted]
