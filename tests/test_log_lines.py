"""What a training says of itself where no progress bar is seen, and when it is done."""

import re

import pytest
from command_line import ended
from few_pairs import few_pairs

from repro.core.batches import EncodedPairs
from repro.data.corpora import load_pairs
from repro.presets import resolve
from repro.runs.log_lines import LogLines, describe
from repro.runs.models import load_translator
from repro.runs.run import Run
from repro.runs.train import evaluate_nll

SMALL = [
    "data.vocab_size=300",
    "train.batch_tokens=400",
    "train.eval_every=2",
    f"data.corpus={few_pairs()}",
]
LINE = {"update": 250, "loss": 4.1234, "seconds": 100.0, "tokens_per_second": 23456}


def test_a_line_of_metrics_in_words():
    text = "update 250 of 1,000, loss 4.123, 23,456 tokens/s, 5 minutes left at most"
    assert describe(LINE, 1000) == text
    with_dev = describe(LINE | {"dev_nll": 2.0}, 1000)
    assert with_dev == text.replace("4.123,", "4.123, dev perplexity 7.39,")
    assert describe(LINE | {"update": 900}, 1000) == (
        "update 900 of 1,000, loss 4.123, 23,456 tokens/s, 1 minute left at most"
    )
    assert describe(LINE, 250).endswith("tokens/s"), "nothing is left"
    assert "dev perplexity inf" not in describe(LINE | {"dev_nll": 1e6}, 1000)


def test_evaluations_are_told_and_others_once_a_minute(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    log = LogLines(resolve("smoke"))
    for seconds, line in (
        (1, LINE),
        (2, LINE | {"dev_nll": 1.0}),
        (61, LINE),
        (63, LINE),
        (64, LINE),
    ):
        now[0] = seconds
        log(line)
    told = capsys.readouterr().err.splitlines()
    assert ["dev perplexity" in line for line in told] == [True, False]
    assert all(line.startswith("base-seed1-") and " of 1,200, " in line for line in told)


@pytest.mark.parametrize("average", [1, 2])
def test_the_dev_loss_is_that_of_the_final_parameters(capsys, runs, average):
    """With a rate that is far too high the best evaluation is the first one."""
    options = [
        *SMALL,
        "train.max_updates=8",
        "train.learning_rate=0.9",
        "train.warmup=4",
        f"train.average={average}",
    ]
    code, out, err = ended(capsys, "train", *options)
    assert code == 0
    (run,) = [Run(path) for path in runs.iterdir()]
    model = load_translator(run)
    ids = (
        model.subwords.encode(side)
        for side in load_pairs(run.config.data.corpus, "en", "de", "dev")
    )
    final = evaluate_nll(model.model, EncodedPairs(*ids, True), run.config.train)
    best = min(line["dev_nll"] for line in run.metrics() if "dev_nll" in line)
    assert final > best + 0.01
    told = (
        rf"8 updates, \d+\.\d minutes, dev loss {final:.3f} nats per token, {best:.3f} at its best"
    )
    assert re.fullmatch(told, out.splitlines()[0])
    lines = [line for line in err.splitlines() if line.startswith(run.path.name)]
    assert [re.search(r"update (\d) of 8", line)[1] for line in lines] == ["2", "4", "6", "8"]
