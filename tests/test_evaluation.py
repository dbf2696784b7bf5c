"""Scores against sacreBLEU's own and hand-made values; the bootstrap against sacreBLEU's test."""

import random

import numpy as np
import pytest
import sacrebleu
from expected_errors import refuses
from sacrebleu.significance import PairedTest

from repro.errors import InputError
from repro.statistics.comparing import paired_bootstrap, score_all
from repro.statistics.metrics import MosesBLEU, Rouge

WORDS = "der Hund die Katze sieht hört einen alten Baum , im Garten und schläft".split()
random.seed(1)
REFS = [" ".join(random.choices(WORDS, k=random.randint(4, 14))) + "." for _ in range(120)]


def noisy(share: float, seed: int) -> list[str]:
    """Return the references with a share of their words replaced."""
    noise = random.Random(seed)
    return [
        " ".join(noise.choice(WORDS) if noise.random() < share else word for word in ref.split())
        for ref in REFS
    ]


WORSE, BETTER = noisy(0.5, 2), noisy(0.3, 3)


def test_cased_scores_are_sacrebleus_and_carry_its_signature():
    bleu, chrf, _ = score_all(WORSE, REFS, "de")
    assert bleu.value == sacrebleu.corpus_bleu(WORSE, [REFS]).score
    assert chrf.value == sacrebleu.corpus_chrf(WORSE, [REFS]).score
    assert (
        bleu.signature
        == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    )
    assert chrf.signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0")


def test_references_that_were_read_before_are_not_taken_for_others():
    first = score_all(WORSE, REFS, "de")
    assert all(score.value < 100 for score in first)
    assert all(score.value == pytest.approx(100) for score in score_all(WORSE, WORSE, "de"))
    assert score_all(WORSE, REFS, "de") == first


def test_what_was_counted_before_is_not_taken_for_another_place():
    half = len(REFS) // 2
    score_all(WORSE, REFS, "de")
    # some of it is known, the same texts elsewhere, all is known
    for hyps in (WORSE[:half] + BETTER[half:], WORSE[::-1], WORSE):
        bleu, chrf, _ = score_all(hyps, REFS, "de")
        assert bleu.value == sacrebleu.corpus_bleu(hyps, [REFS]).score
        assert chrf.value == sacrebleu.corpus_chrf(hyps, [REFS]).score


def test_tokenised_bleu_lowers_case_and_splits_as_moses_does():
    tokenized = MosesBLEU("de")
    assert tokenized.prepare(["Der Hund, z.B. (Rex), schläft."]) == [
        "der hund , z.b. ( rex ) , schläft ."
    ]
    score = score_all([ref.upper() for ref in REFS], REFS, "de")[2]
    assert score.value == pytest.approx(100)
    assert "case:lc|" in score.signature and "tok:sacremoses-" in score.signature


def test_tokenised_bleu_of_a_hand_worked_case():
    """Precisions 5/6, 3/5, 2/4, 1/3 and no brevity penalty: (5/6 * 3/5 * 1/2 * 1/3) ** (1/4)."""
    (_, _, score) = score_all(["the cat sat on a mat"], ["the cat sat on the mat"], "en")
    assert score.value == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


@pytest.mark.parametrize(
    "target, hyp, ref",
    [("en", "the cat sat on mats", "the cat sat in mats"), ("ja", "猫が座った", "猫は座った")],
)
def test_tokenised_bleu_is_not_smoothed_as_cased_bleu_is(target, hyp, ref):
    """As multi-bleu has it: no score without four words in a row that match."""
    cased, _, tokenised = score_all([hyp], [ref], target)
    assert tokenised.value == 0 < cased.value and "smooth:none" in tokenised.signature


CHINESE = (
    ["我昨天在车站见到了朋友。", "她每天早上跑步。"],
    ["我昨天在车站见到了老师。", "她每天早上跑步。"],
)
JAPANESE = (
    ["私は昨日、駅で友達に会った。", "彼女は毎朝走る。"],
    ["私は昨日、駅で先生に会った。", "彼女は毎朝走る。"],
)
KHMER = ["ខ្ញុំស្រឡាញ់ភាសាខ្មែរ។"], ["ខ្ញុំស្រឡាញ់ភាសាបារាំង។"]


@pytest.mark.parametrize(
    "target, text, tokenizer",
    [
        (code, CHINESE, "zh")
        for code in (
            "zh",
            "zh-CN",
            "cmn_Hans",
            "cn",
            "chs",
            "chi",
            "ZH",
            "lzh",
            "wuu",
            "ja",
            "km",
            "xx",
        )
    ]
    + [(code, JAPANESE, "char") for code in ("ja", "jpn", "jp", "JA", "zh", "xx")]
    + [(code, KHMER, "char") for code in ("km", "khm_Khmr", "lo", "my", "xx")],
)
def test_text_without_blanks_is_cut_by_a_tokeniser_unless_it_is_cut_already(
    target, text, tokenizer
):
    refs, hyps = text
    bleu, _, tokenised = score_all(hyps, refs, target)
    assert bleu.value == sacrebleu.corpus_bleu(hyps, [refs], tokenize=tokenizer).score > 50
    assert (
        tokenised.value == bleu.value and f"case:lc|eff:no|tok:{tokenizer}|" in tokenised.signature
    )
    cut = [[" ".join(line) for line in lines] for lines in (hyps, refs)]
    assert "tok:none" in score_all(*cut, target)[0].signature
    assert paired_bootstrap(hyps, refs, refs, target, num_samples=10)[0].first == bleu.value


def test_a_blank_here_and_there_does_not_make_a_text_cut_into_words():
    refs = ["我昨天在New York见到了朋友。", "她每天早上跑步。", "我们在Los Angeles。", "他不在。"]
    cut = ["我 昨天 在 New York 见到 了 朋友 。", "她 每天 早上 跑步 。", "不在。"]
    assert [
        "tok:zh|" in score_all(lines, lines, "zh")[0].signature for lines in (refs, refs[:3], cut)
    ] == [True, True, False]


@pytest.mark.parametrize("target", ["th", "tha_Thai"])
def test_thai_has_blanks_between_phrases_not_words(target):
    refs = ["เมื่อวานฉันไปตลาดกับแม่ แล้วซื้อผลไม้มาเยอะมาก", "วันนี้อากาศดี เราจะไปเดินเล่นกัน"]
    cut = ["เมื่อวาน ฉัน ไป ตลาด กับ แม่ แล้ว ซื้อ ผลไม้ มา เยอะ มาก", "วันนี้ อากาศ ดี เรา จะ ไป เดินเล่น กัน"]
    assert [
        f"tok:{cutter}|" in score_all(text, text, target)[0].signature
        for text, cutter in ((refs, "char"), (cut, "none"))
    ] == [
        True,
        True,
    ]


def test_the_bootstrap_agrees_with_sacrebleus_test():
    """Resamples of the same kind; sacreBLEU counts one tail, we count both."""
    close = noisy(0.32, 9)
    ours = paired_bootstrap(close, BETTER, REFS, "de", num_samples=2000)[0]
    metrics = {"BLEU": sacrebleu.BLEU(references=[REFS])}
    _, theirs = PairedTest(
        [("a", close), ("b", BETTER)], metrics, None, test_type="bs", n_samples=2000
    )()
    assert ours.p == pytest.approx(2 * theirs["BLEU"][1].p_value, abs=0.06)
    assert 0.1 < ours.p < 0.4, (
        "choose systems between which the test is undecided, or the comparison says little"
    )
    assert ours.first == pytest.approx(theirs["BLEU"][0].score) and ours.second == pytest.approx(
        theirs["BLEU"][1].score
    )


def test_a_clear_difference_is_significant_and_its_interval_holds_it():
    results = paired_bootstrap(WORSE, BETTER, REFS, "de")
    assert [result.signature for result in results] == [
        score.signature for score in score_all(WORSE, REFS, "de")
    ]
    for result in results:
        assert result.difference > 5 and result.p < 0.01
        assert 0 < result.low < result.difference < result.high


def test_the_interval_of_a_mean_is_the_normal_one_and_no_p_is_zero():
    """ROUGE is a mean over texts, so that its resamples lie within 1.96 standard errors in 95 of
    100 cases; the true one is one of them."""
    rouge, *_ = paired_bootstrap(WORSE, BETTER, REFS, "summary", task="summarisation")
    scores = [
        [
            Rouge("rouge1").sentence_score(hyp, [ref]).score
            for hyp, ref in zip(lines, REFS, strict=True)
        ]
        for lines in (WORSE, BETTER)
    ]
    differences = np.subtract(scores[1], scores[0])
    half = 1.96 * differences.std() / len(REFS) ** 0.5
    assert (rouge.low, rouge.high) == pytest.approx(
        (differences.mean() - half, differences.mean() + half), abs=0.1 * half
    )
    assert rouge.p == 1 / (rouge.num_samples + 1)


def test_a_system_does_not_differ_from_itself():
    for result in paired_bootstrap(BETTER, BETTER, REFS, "de", num_samples=100):
        assert result.difference == result.low == result.high == 0 and result.p == 1


def test_the_bootstrap_is_deterministic():
    assert paired_bootstrap(WORSE, BETTER, REFS, "de", 100) == paired_bootstrap(
        WORSE, BETTER, REFS, "de", 100
    )


@pytest.mark.parametrize(
    "hyps, refs, message",
    [([], [], "there is nothing to score"), (["a"], ["a", "b"], "1 lines for 2 references")],
)
def test_nothing_or_unequal_lines_are_refused(hyps, refs, message):
    with pytest.raises(InputError, match=message):
        score_all(hyps, refs, "de")


@pytest.mark.parametrize("few", [0, 1, 2.5])
def test_resamples_that_scatter_nowhere_are_refused(few):
    with refuses(InputError, "num_samples", str(few)):
        paired_bootstrap(WORSE, BETTER, REFS, "de", num_samples=few)


def test_a_text_in_the_place_of_a_list_is_refused():
    """Its letters would be scored one by one."""
    with pytest.raises(InputError, match="hypotheses: are one text, not a list"):
        score_all("ein Haus", ["ein Haus"], "de")
    with pytest.raises(InputError, match="references: are one text, not a list"):
        paired_bootstrap(["ein Haus"], ["ein Haus"], "ein Haus", "de")


@pytest.mark.parametrize("mark", [".", " ."])
def test_text_in_words_and_marks_is_warned_of_only_beside_whole_references(caplog, mark):
    refs = [f"the dog sees {number} cats{mark}" for number in range(150)]
    score_all([ref.replace(" .", ".").replace(".", " .") for ref in refs], refs, "en")
    assert ("forgot to detokenize" in caplog.text) == (mark == ".")
