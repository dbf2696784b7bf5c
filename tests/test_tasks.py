"""Summaries and replies: the generated corpora, the metrics, and the same loop, search and records
for all."""

import math
import re
from dataclasses import replace
from functools import partial
from random import Random

import pytest
import sacrebleu

from repro.data import catalogue, corpora, hub
from repro.data.catalogue import CORPORA
from repro.data.corpora import task_of
from repro.errors import InputError
from repro.generated import minidialogue, minisummary
from repro.generated import splits as generated
from repro.generated.minigerman.lexicon import VERBS
from repro.generated.splits import Pair, draw_splits
from repro.measures.scores import evaluate_run
from repro.presets import SCALES, resolve
from repro.records.report import render
from repro.records.translations import compare_records, recount, rescore
from repro.runs.train import train
from repro.statistics.comparing import paired_bootstrap, score_all
from repro.statistics.metrics import METRICS, VERSION, Distinct, Rouge

SIZES = {"train": 600, "dev": 60, "test": 400}
GENERATORS = {"minisummary": minisummary, "minidialogue": minidialogue}


@pytest.fixture(scope="module")
def pairs() -> dict[str, dict[str, list[Pair]]]:
    return {name: module.splits(SIZES) for name, module in GENERATORS.items()}


# The generated corpora


@pytest.mark.parametrize("name", GENERATORS)
def test_the_same_seed_gives_the_same_pairs_and_more_of_them_continue_fewer(name, pairs):
    again = GENERATORS[name].splits(SIZES | {"train": 100})
    assert again == pairs[name] | {"train": pairs[name]["train"][:100]}
    assert GENERATORS[name].splits({"test": 20}, seed=1)["test"] != pairs[name]["test"][:20]


@pytest.mark.parametrize("name, sides", [("minisummary", (0, 1)), ("minidialogue", (0,))])
def test_no_text_stands_in_two_splits_or_twice(name, sides, pairs):
    for side in sides:
        texts = [pair[side] for split in pairs[name].values() for pair in split]
        assert len(set(texts)) == len(texts) == sum(SIZES.values())


def test_no_size_changes_a_split_that_is_drawn_before():
    """Of so few texts, what one split has taken is missing to the next: test is drawn first, then
    dev."""

    def drawn(**sizes: int) -> dict[str, list[Pair]]:
        return draw_splits(lambda rng: Pair(str(rng.randrange(12)), "a"), sizes, targets_recur=True)

    assert all(
        drawn(train=0, dev=number, test=4)["test"] == drawn(test=4)["test"] for number in range(6)
    )
    assert all(
        drawn(train=number, dev=4, test=2)["dev"] == drawn(dev=4, test=2)["dev"]
        for number in range(6)
    )


def test_replies_recur_and_an_exhausted_generator_says_so(monkeypatch, pairs):
    replies = [pair.target for pair in pairs["minidialogue"]["train"]]
    assert len(set(replies)) < len(replies)
    monkeypatch.setattr(generated, "MAX_FAILURES", 50)
    with pytest.raises(InputError, match="no new pair in 50 draws. Fix: ask for fewer pairs"):
        draw_splits(lambda rng: Pair(str(rng.randrange(5)), "a"), {"test": 6}, targets_recur=True)
    with pytest.raises(InputError, match="no new pair"):
        draw_splits(lambda rng: Pair(str(rng.random()), "a"), {"test": 2})
    with pytest.raises(InputError, match="test: -1 pairs is negative"):
        draw_splits(minidialogue.sample_pair, {"test": -1})


PRESENT = {
    f"{verb.english[2]} {verb.english_particle}".strip(): verb
    for verb in VERBS
    if verb.english[0] in minisummary.EVENT_VERBS
}
EVENT = re.compile(
    rf"(?P<actor>He|She|Mr \w+|Mrs \w+|\w+) (?P<verb>{'|'.join(PRESENT)}) (?:the|an?) "
    r"(?P<thing>[\w ]+)"
)


def headline_of(article: str) -> str:
    """Solve an article by rules."""
    sentences = article.removesuffix(".").split(". ")
    ((place, event),) = [
        (i, match) for i, text in enumerate(sentences) if (match := EVENT.fullmatch(text))
    ]
    actor = event["actor"]
    if actor in ("He", "She"):
        actor = re.match(r"Mrs? \w+|\w+", sentences[place - 1])[0]
    (city,) = [
        text.removeprefix("It happened in ")
        for text in sentences
        if text.startswith("It happened in ")
    ]
    verb = PRESENT[event["verb"]]
    return (
        f"{actor} {f'{verb.english[1]} {verb.english_particle}'.strip()} {event['thing']} in {city}"
    )


def test_every_headline_follows_from_its_article(pairs):
    assert len(PRESENT) == len(minisummary.EVENT_VERBS)
    for split in pairs["minisummary"].values():
        for article, headline in split:
            assert headline_of(article) == headline, article


def test_headlines_are_copied_from_no_fixed_place(pairs):
    """The event opens a part of the articles only, its actor or city often stands elsewhere, and no
    sentence is the headline."""
    test = pairs["minisummary"]["test"]
    places = [
        next(i for i, text in enumerate(article[:-1].split(". ")) if EVENT.fullmatch(text))
        for article, _ in test
    ]
    assert all(places.count(place) > 0.1 * len(test) for place in (0, 1, 2))
    assert max(map(places.count, set(places))) < 0.5 * len(test)
    assert all(headline not in article for article, headline in test)
    shares = {
        text: sum(text in article for article, _ in test) / len(test)
        for text in (" He ", " She ", " came from ", " that ")
    }
    assert all(0.1 < share < 0.6 for share in shares.values()), shares
    lead = [article.split(". ")[0] for article, _ in test]
    assert (
        score_all(lead, [headline for _, headline in test], "summary", "summarisation")[2].value
        < 40
    )


def with_value(template: str) -> re.Pattern[str]:
    return re.compile(re.escape(template).replace(r"\{\}", r"([\w ]+)"))


def reply_to(context: str) -> str:
    """Solve a context by rules."""
    persona, said = context.split(hub.SEPARATOR)
    greeting = re.match(r"Hello, I am (\w+)\. ", said)
    question = said[greeting.end() :] if greeting else said
    opening = f"Hello {greeting[1]}. " if greeting else ""
    patterns = [with_value(topic.fact) for topic in minidialogue.TOPICS]
    sentences = re.findall(r"\w[^.]+\.", persona)
    facts = {
        i: match[1]
        for text in sentences
        for i, pattern in enumerate(patterns)
        if (match := pattern.fullmatch(text))
    }
    assert len(facts) == minidialogue.NUM_FACTS
    for i, topic in enumerate(minidialogue.TOPICS):
        closed = with_value(topic.closed_question).fullmatch(question)
        back = (
            patterns[i].fullmatch(question.removesuffix(" And you?"))
            if question.endswith(" And you?")
            else None
        )
        if question != topic.open_question and not closed and not back:
            continue
        if i not in facts:
            return opening + minidialogue.SECRET
        fact = topic.fact.format(facts[i])
        if closed:
            return (
                f"{opening}{'Yes' if closed[1] == facts[i] else 'No'}, "
                f"{fact if fact.startswith('I') else 'm' + fact[1:]}"
            )
        return opening + (fact[:-1] + " too." if back and back[1] == facts[i] else fact)
    raise AssertionError(question)


def test_every_reply_follows_from_its_context(pairs):
    for split in pairs["minidialogue"].values():
        for context, reply in split:
            assert reply_to(context) == reply, context


def test_replies_are_of_many_kinds_and_from_any_fact(pairs):
    test = pairs["minidialogue"]["test"]
    kinds = {"Yes, ": 0.08, "No, ": 0.08, " too.": 0.08, minidialogue.SECRET: 0.08, "Hello ": 0.4}
    assert all(
        sum(kind in reply for _, reply in test) > share * len(test) for kind, share in kinds.items()
    )
    lead = [context.split(". ")[0] + "." for context, _ in test]
    question = [context.split(hub.SEPARATOR)[1] for context, _ in test]
    for copied in (lead, question):
        assert score_all(copied, [reply for _, reply in test], "reply", "dialogue")[0].value < 25
        assert sum(
            text == reply for text, (_, reply) in zip(copied, test, strict=True)
        ) < 0.15 * len(test)


@pytest.mark.parametrize("noun_class, article", [("animal", "an old"), ("thing", "an expensive")])
def test_a_becomes_an(noun_class, article):
    values = {minidialogue._draw_singular(Random(seed), noun_class) for seed in range(300)}
    assert any(value.startswith(article) for value in values)
    assert not any(re.match("a [aeiou]", value) for value in values)


# Metrics


def test_rouge_of_a_hand_worked_case():
    """Of 5 words against 6: 4 words shared, of the pairs 2 of 4 and 5; the longest common
    subsequence is "the cat on mat"."""
    one, two, longest = score_all(
        ["the cat was on mat"], ["the cat sat on the mat"], "summary", "summarisation"
    )
    assert one.value == pytest.approx(100 * 2 * (4 / 5) * (4 / 6) / (4 / 5 + 4 / 6))
    assert two.value == pytest.approx(100 * 2 * (1 / 4) * (1 / 5) / (1 / 4 + 1 / 5))
    assert longest.value == pytest.approx(100 * 2 * (4 / 5) * (4 / 6) / (4 / 5 + 4 / 6))


def test_rouge_is_the_mean_over_texts_stems_words_and_sees_order_in_l_only():
    one, _, longest = score_all(
        ["steals Ring!", "c b a"], ["steal rings", "a b c"], "summary", "summarisation"
    )
    assert one.value == pytest.approx(100)
    assert longest.value == pytest.approx((100 + 100 / 3) / 2)


def test_distinct_counts_over_all_texts():
    """I like teas | I like milk | tea. Different words: 5 of 7, not stemmed; pairs: "I like", "like
    teas", "like milk", 3 per 7 words."""
    *_, one, two = score_all(
        ["I like teas.", "I like milk!", "Tea"], ["a", "b", "c"], "reply", "dialogue"
    )
    assert (one.name, two.name) == ("distinct-1", "distinct-2")
    assert one.value == pytest.approx(100 * 5 / 7) and two.value == pytest.approx(100 * 3 / 7)
    assert Distinct(1).score(["...", ""]) == 0


def test_signatures_say_how():
    signatures = {
        score.name: score.signature
        for task in ("summarisation", "dialogue")
        for score in score_all(["a b"], ["a c"], "x", task)
    }
    assert list(signatures) == ["ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU", "distinct-1", "distinct-2"]
    assert VERSION.startswith("rouge-score-0.1.")
    assert (
        signatures["ROUGE-L"]
        == f"nrefs:1|case:lc|tok:a-z0-9|stem:porter|score:mean-f1|version:{VERSION}"
    )
    assert signatures["distinct-2"] == f"case:lc|tok:a-z0-9|n:2|per:100-words|version:{VERSION}"
    assert (
        signatures["BLEU"]
        == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    )


def test_the_task_of_the_corpus_decides():
    assert {
        name: task_of(name) for name in ("minigerman", "local:any", "cnndm", "personachat")
    } == {
        "minigerman": "translation",
        "local:any": "translation",
        "cnndm": "summarisation",
        "personachat": "dialogue",
    }
    assert {record.task for record in CORPORA.values()} == set(METRICS)
    with pytest.raises(InputError, match="unknown task 'dialog'. Fix: did you mean 'dialogue'"):
        score_all(["a"], ["a"], "reply", "dialog")


def test_the_bootstrap_of_rouge_resamples_its_mean(pairs):
    refs = [headline for _, headline in pairs["minisummary"]["test"]]
    worse = [" ".join(ref.split()[:2]) if i % 2 else ref for i, ref in enumerate(refs)]
    better = [" ".join(ref.split()[:2]) if i % 4 == 1 else ref for i, ref in enumerate(refs)]
    results = paired_bootstrap(worse, better, refs, "summary", 200, "summarisation")
    for lines, side in ((worse, "first"), (better, "second")):
        scores = score_all(lines, refs, "summary", "summarisation")
        assert [getattr(result, side) for result in results] == pytest.approx(
            [score.value for score in scores]
        )
        assert [(result.metric, result.signature) for result in results] == [
            (score.name, score.signature) for score in scores
        ]
    assert all(
        result.low < result.difference < result.high and result.p < 0.01 for result in results
    )
    rouge = results[0]
    first, second = (
        [Rouge("rouge1").sentence_score(*pair).score for pair in zip(lines, zip(refs), strict=True)]
        for lines in (worse, better)
    )
    by_text = [b - a for a, b in zip(first, second, strict=True)]
    mean = sum(by_text) / len(by_text)
    error = (sum((value - mean) ** 2 for value in by_text) / len(by_text) ** 2) ** 0.5
    assert rouge.difference == pytest.approx(mean)
    assert rouge.high - rouge.low == pytest.approx(2 * 1.96 * error, rel=0.25)


def test_the_bootstrap_leaves_out_what_is_no_sum():
    results = paired_bootstrap(
        ["a b c d"] * 3, ["a b c d"] * 3, ["a b c d"] * 3, "reply", 10, "dialogue"
    )
    assert [result.metric for result in results] == ["BLEU", "ROUGE-L"]


# The same model, loop, search and records


@pytest.fixture
def small_corpora(monkeypatch):
    monkeypatch.setattr(generated, "DEFAULT_SIZES", {"train": 300, "dev": 20, "test": 30})
    for read_once in (catalogue._generated_pairs, corpora._load_published_once):
        read_once.cache_clear()
    yield
    for read_once in (catalogue._generated_pairs, corpora._load_published_once):
        read_once.cache_clear()


@pytest.mark.parametrize("scale", ["minisummary", "minidialogue"])
def test_a_run_is_trained_scored_stored_and_reported_with_the_metrics_of_its_task(
    scale, small_corpora, tmp_path
):
    shape = (
        "model.embed_dim=16",
        "model.ffn_dim=16",
        "data.vocab_size=300",
        "train.max_updates=3",
        "train.batch_tokens=512",
    )
    make = partial(resolve, scale, overrides=shape)
    records = [
        evaluate_run(train(make(system), tmp_path, "cpu", quiet=True))
        for system in ("base", "ran-all")
    ]
    names = [metric.name for metric in METRICS[task_of(scale)]("")]
    for record in records:
        assert [score["name"] for score in record["scores"]] == names
        assert rescore(record) == record["scores"] and all(recount(record).values())
    assert [result.metric for result in compare_records(*records)] == [
        name for name in names if "distinct" not in name
    ]
    text = render(records)
    lengths = ["length ratio / brevity penalty"] if "BLEU" in names else []
    columns = ["system", "seed", *names, *lengths, "dev perplexity of the best checkpoint"]
    assert f"| {' | '.join(columns)} |" in text
    assert f"| {math.exp(records[0]['training']['best_dev_nll']):.2f} |" in text
    assert "This corpus is generated" in text and "chrF" not in text


def test_scales_name_corpora_and_columns_that_exist():
    for scale in ("minisummary", "minidialogue", "cnndm", "personachat"):
        data = SCALES[scale].data
        assert CORPORA[data.corpus].languages == (data.source, data.target)
        assert replace(data, corpus=scale) == data
