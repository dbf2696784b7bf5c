"""How a text is written is told from its letters, under whatever code it came."""

# ruff: noqa: RUF001  Chinese has marks of its own
import pytest
from command_line import run

from repro.statistics.comparing import score_all
from repro.statistics.scripts import (
    ALPHABETS,
    HAN,
    JAPANESE,
    disagreement,
    is_cut_into_words,
    unspaced_kind,
)

PANGU = [
    "我们在 2019 年用 Python 写了 3 个程序。",
    "请先安装 Git 2.40 再运行这个命令。",
    "打开 VS Code 并点击左边的按钮。",
    "我买了 12 本书。",
]
"""As technical writing has it: blanks between Chinese characters and Latin letters or digits."""
PANGU_JA = [
    "この PC には 16 GB のメモリがあります。",
    "2019 年に Python で 3 つの プログラムを書いた。",
    "Git 2.40 を 入れてください。",
]

TEXTS = {
    "Chinese": (["天气很好，我们去公园散步吧。", "他昨天没来。"], HAN, False),
    "Classical": (["學而時習之，不亦說乎。", "有朋自遠方來，不亦樂乎。"], HAN, False),
    "with blanks around Latin": (PANGU, HAN, False),
    "Japanese with blanks around Latin": (PANGU_JA, JAPANESE, False),
    "Japanese": (["猫が座った。", "コンピューターを買いました。"], JAPANESE, False),
    "half-width kana": (["ﾃﾚﾋﾞを見る。", "ｶﾒﾗを買った。"], JAPANESE, False),
    "by phrases": (
        ["わたしは きのう がっこうへ いきました。", "いぬが こうえんで ねこを みました。"],
        JAPANESE,
        False,
    ),
    "cut": (
        ["我们 昨天 在 北京 大学 参加 了 一个 会议 。", "她 说 明天 可能 会 下雨 。"],
        HAN,
        True,
    ),
    "cut Japanese": (
        ["私 は 昨日 駅 で 友達 に 会っ た 。", "彼女 は 毎朝 走る 。"],
        JAPANESE,
        True,
    ),
    "Thai phrases": (["ไปไหนมา กินข้าวยัง", "พรุ่งนี้เจอกัน ที่เดิมนะ"], ALPHABETS, False),
    "cut Thai": (["เมื่อวาน ฉัน ไป ตลาด กับ แม่ แล้ว ซื้อ ผลไม้ มา เยอะ มาก"], ALPHABETS, True),
    "Khmer with invisible blanks": (["ខ្ញុំ\u200bស្រឡាញ់\u200bភាសា\u200bខ្មែរ"], ALPHABETS, False),
    "Burmese": (["ကျွန်တော် ဈေးကိုသွားပြီး ဟင်းသီးဟင်းရွက်ဝယ်တယ်။"], ALPHABETS, False),
    "Lao": (["ຂ້ອຍໄປຕະຫຼາດ ແລ້ວຊື້ໝາກໄມ້"], ALPHABETS, False),
    "Tibetan": (["བཀྲ་ཤིས་བདེ་ལེགས། ཁྱེད་རང་སྐུ་གཟུགས་བདེ་པོ་ཡིན་པས།"], ALPHABETS, False),
    "Korean with Chinese characters": (
        ["나는 어제 學校에 갔다.", "大韓民國의 首都는 서울이다."],
        None,
        None,
    ),
    "English about Chinese": (
        ["The word 你好 means hello in Chinese.", "The character 火 is fire."],
        None,
        None,
    ),
    "Vietnamese": (["Hôm qua tôi đi học.", "Cô ấy chạy mỗi sáng."], None, None),
    "Arabic": (["ذهبت إلى المدرسة أمس."], None, None),
    "numbers": (["2019", "16"], None, None),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_letters_tell_script_and_words(name):
    texts, kind, is_cut = TEXTS[name]
    assert unspaced_kind(texts) == kind
    if kind:
        assert is_cut_into_words(texts, kind) == is_cut


def test_no_line_turns_the_tokeniser_of_a_whole_test_set():
    plain = ["天气很好，我们去公园散步吧。"]
    tokenisers = {
        score_all(refs, refs, "zh")[0].signature
        for n in range(5)
        if (refs := PANGU[:n] + plain * (4 - n))
    }
    assert len(tokenisers) == 1 and "tok:zh|" in tokenisers.pop()


def test_chinese_with_more_latin_words_than_characters_is_known_by_its_code():
    texts = ["iPhone 15 Pro Max 版", "Windows Server Update Services 库"]
    assert (unspaced_kind(texts, "xx"), unspaced_kind(texts, "zh")) == (None, HAN)


@pytest.mark.parametrize(
    ("code", "texts", "line"),
    [
        ("de", PANGU, "'de' is not the code of these references, which are written in Chinese"),
        ("ja", PANGU, "'ja' is not the code of these references, which are written in Chinese"),
        (
            "zh",
            ["wo zuotian qu le xuexiao"],
            "'zh' is not the code of these references, which are written in a script with blanks",
        ),
        ("zh_Hans", PANGU, ""),
        ("CN", PANGU, ""),
        ("de", ["Ein Hund."], ""),
        ("zh", ["12", "3.5"], ""),
    ],
)
def test_a_code_that_does_not_fit_the_letters_is_told_once(capsys, code, texts, line):
    assert disagreement(texts, code) == line
    for _ in range(2):
        score_all(texts, texts, code)
    told = capsys.readouterr().err
    assert told == (f"scores: {line}; the tokeniser is chosen by the letters\n" if line else "")


def test_the_length_of_text_without_blanks_is_told_in_characters(capsys, tmp_path):
    for split in ("train", "dev", "test"):
        (tmp_path / f"{split}.en").write_text(f"The {split} is here.\n")
        (tmp_path / f"{split}.cn").write_text(f"这是{split}。\n")
    page = "\n".join(run(capsys, "data", f"local-allow-leaks:{tmp_path}", "--direction", "en-cn"))
    assert "  mean length              4.0 en words, 7.5 cn characters" in page
