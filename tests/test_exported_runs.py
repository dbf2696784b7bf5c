"""A run for other programs: what one cannot hold is refused, what it holds is translated alike."""

import pytest
import torch
from command_line import refused, run
from sentencepiece import SentencePieceProcessor

from repro.core.config import ModelConfig
from repro.core.decoding import SearchConfig
from repro.core.subwords import PAD_ID
from repro.core.transformer import Transformer
from repro.errors import InputError
from repro.presets import resolve
from repro.runs import gallery
from repro.runs.exported import check_fits
from repro.runs.huggingface import config_of, parameters_of
from repro.runs.models import load_translator

SENTENCES = ["The old man sees a dog.", "A woman reads the book in the garden.", "The dog sleeps."]


@pytest.mark.parametrize(
    ("form", "program"), [("ctranslate2", "CTranslate2"), ("huggingface", "transformers")]
)
def test_what_a_program_cannot_hold_is_refused(form, program, tmp_path, capsys):
    out = str(tmp_path / "out")
    told = refused(capsys, "export", "gallery/hc-sa", "--out", out, "--format", form)[1]
    assert f"hc-sa: has model.encoder_self=gaussian, and {program} holds dot-product alone" in told
    check_fits(resolve("smoke").model, "base", program, {"norm": "pre"})
    with pytest.raises(InputError, match="base: has model.norm=pre, and x holds post alone"):
        check_fits(resolve("smoke").model, "base", "x", {"norm": "post"})


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


def test_transformers_translates_as_the_run_does(tmp_path, capsys):
    transformers = pytest.importorskip("transformers")
    out = str(tmp_path / "out")
    run(capsys, "export", "gallery/base", "--out", out, "--format", "huggingface")
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(out).eval()
    ours = load_translator(gallery.load("base"))
    batch = tokenizer(SENTENCES, return_tensors="pt", padding=True)
    for beam in (1, 5):
        wanted = ours.translate(SENTENCES, SearchConfig(beam=beam))
        ids = model.generate(**batch, num_beams=beam)
        assert tokenizer.batch_decode(ids, skip_special_tokens=True) == wanted


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_parameter_has_its_place_in_transformers(norm):
    """Random ones, in norms too, so that no two may be exchanged without a difference."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(1)
    config = ModelConfig(norm=norm, embed_dim=24, num_heads=3, ffn_dim=40, encoder_layers=3)
    ours = Transformer(config, 50, PAD_ID).eval()
    for parameter in ours.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    table = config_of(config, 50)
    theirs = getattr(transformers, table["architectures"][0])(
        transformers.AutoConfig.for_model(**table)
    ).eval()
    missing, unknown = theirs.load_state_dict(parameters_of(ours), strict=False)
    tied = {"lm_head.weight", "final_logits_bias"}
    assert (
        unknown == []
        and {name for name in missing if not name.endswith("embed_tokens.weight")} <= tied
    )
    source, target = torch.randint(4, 50, (2, 7)), torch.randint(4, 50, (2, 6))
    source[1, 5:] = PAD_ID
    with torch.inference_mode():
        found = theirs(source, attention_mask=source != PAD_ID, decoder_input_ids=target).logits
        torch.testing.assert_close(found, ours(source, target), rtol=1e-4, atol=1e-4)
