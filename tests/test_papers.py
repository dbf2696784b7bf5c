"""The papers as code: what is printed, what is planned, and what stands in tables."""

import re
import statistics
from dataclasses import asdict, replace
from datetime import date

import pytest
from paper_records import (
    BASE,
    HARD,
    bleu,
    damaged,
    described,
    heads_about,
    heads_record,
    of_one_training,
    pruning_record,
    score_record,
    speed_records,
)

from repro.claims import settings
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.core.attention.spec import build_weights
from repro.errors import InputError, MachineError
from repro.measures.registry import JOINT_MEASURES, MEASURES
from repro.papers import PAPERS, Experiment, find_experiments, load_paper
from repro.papers.heads import rare_table
from repro.papers.printed import _numbers, printed_numbers
from repro.papers.printed_tables import printed_grid
from repro.papers.pruned import PRUNED
from repro.papers.pruned_roles import survival_difference
from repro.papers.pruning_tables import curve_figure, roles_table
from repro.papers.report import experiment_section, experiment_status
from repro.papers.runner import plan
from repro.papers.tables import Row, score_table
from repro.papers.verdicts import claims_of
from repro.presets import SCALES


def test_every_claim_has_a_test_its_runs_and_a_dated_margin():
    names = [claim.name for claim in claims_of()]
    names.remove("Y-X1")  # our own
    expected = {"R": 16, "Y": 21, "V": 17, "Z": 17, "M": 9}
    assert sorted(names) == sorted(
        f"{letter}-{number:02d}"
        for letter, count in expected.items()
        for number in range(1, count + 1)
    )
    for paper in map(load_paper, PAPERS):
        settings = {
            setting.config("smoke").digest()
            for experiment in paper.experiments
            for setting in experiment.settings
        }
        measured = {
            (kind, setting)
            for experiment in paper.experiments
            for kind, settings in experiment.measures.items()
            for setting in settings
        }
        for claim in paper.claims:
            assert date.fromisoformat(claim.fixed) and claim.place, claim.name
            # the first fifty had no reasons written down
            assert claim.why or claim.fixed < "2026-11-29", claim.name
            assert {setting.config("smoke").digest() for setting in claim.settings()} <= settings, (
                claim.name
            )
            for condition in claim.conditions:
                for kind in condition.measures:
                    assert any((kind, setting) in measured for setting in condition.settings), (
                        f"{claim.name} needs {kind}"
                    )


def test_what_is_measured_has_a_measure():
    kinds = {
        kind
        for paper in map(load_paper, PAPERS)
        for experiment in paper.experiments
        for kind in experiment.measures
    }
    assert kinds == MEASURES.keys() | JOINT_MEASURES.keys()


def test_every_system_of_an_experiment_can_be_built_at_every_scale_that_runs_it():
    built = set()  # many systems share what they have at a site
    for _, experiment in find_experiments("all"):
        for scale in SCALES:
            for setting in experiment.settings if experiment.runs_at(scale) else ():
                # how much data there is decides nothing here
                model = replace(setting, part=1.0).config(scale).model
                for site, layers in (
                    ("encoder_self", model.encoder_layers),
                    ("decoder_self", model.decoder_layers),
                    ("cross", model.decoder_layers),
                ):
                    stack = (getattr(model, site), site, layers, model.embed_dim, model.num_heads)
                    if stack not in built:
                        build_weights(*stack, length_ratio=1.0)
                        built.add(stack)


def test_a_pruned_model_is_named_by_what_was_done_to_it():
    texts = {claim.name: claim.conditions[0].describe() for claim in claims_of("voita2019")}
    assert "nearest a quarter of all heads" in texts["V-03"]
    assert all("trained on as long" in texts[name] for name in ("V-01", "V-02"))
    assert any(
        "V-01 and V-02" in deviation.topic for deviation in load_paper("voita2019").deviations
    )


def test_many_printed_columns_stand_below_ours(evidence):
    text = score_table(
        evidence,
        "you2020",
        "Table 2",
        [Row(BASE, {"column": "base"}), Row(HARD, {"column": "hc-sa"}), Row(Setting("syn-r"), {})],
    )
    ours, theirs = text.split("\n\n")  # the paper has eight columns: too many beside ours
    base, hard, missing = ours.splitlines()[2:]
    assert (
        "printed:" not in ours
        and "| -1.20 to +0.40 |" in hard
        and missing.startswith("| syn-r | not run |")
    )
    heading, _, base, hard = theirs.splitlines()  # and nothing of a system that it lacks
    assert heading.startswith("| printed | IWSLT16 En-De | IWSLT16 De-En |")
    assert base.startswith("| base | 30.0 | 34.4 |") and hard.startswith("| hc-sa | 30.3 | 34.8 |")


def test_few_printed_columns_stand_beside_ours_and_gaps_stay_gaps(evidence):
    rows = [
        Row(BASE, {"row": "Transformer"}),
        Row(Setting("mma"), {"row": "Transformer MMA"}),
        Row(HARD, {}),
    ]
    text = score_table(evidence, "cui2019", "Table 3", rows)
    assert re.search(r"printed: .* \| printed: ", text.splitlines()[0]) and text.splitlines()[
        -1
    ].endswith("| - | - |")
    assert score_table(evidence, "raganato2020", "Table 1", [Row(BASE, {})]).endswith(
        "Printed numbers of Table 1: not known."
    )


def test_a_table_says_which_runs_were_stopped_early(refs):
    short, whole = score_record(BASE, refs), score_record(HARD, refs)
    short["training"] = short["training"] | {"update": 600}
    text = score_table(
        Evidence("smoke", [short, whole]), "you2020", "Table 2", [Row(BASE, {}), Row(HARD, {})]
    )
    assert text.endswith(
        "\n\nStopped early, when dev had not improved for long: base after 600 of 1,200 updates."
    )


def test_printed_differences_are_in_sacrebleu_where_the_paper_has_it(evidence):
    rows = [
        Row(BASE, {"column": "TransF"}),
        Row(HARD, {"column": "HC-SA"}),
        Row(Setting("syn-r"), {"column": "Syn-R"}),
    ]
    _, hard, synthesizer = score_table(evidence, "zeng2021", "Table 1", rows).splitlines()[2:5]
    expected = {}
    for name in ("HC-SA", "Syn-R"):
        cells = {
            cell.dataset: cell.value
            for cell in printed_numbers("zeng2021", "Table 1", column=name)
            if cell.metric == "SacreBLEU"
        }
        base = {
            cell.dataset: cell.value
            for cell in printed_numbers("zeng2021", "Table 1", column="TransF")
            if cell.metric == "SacreBLEU"
        }
        gains = [value - base[data] for data, value in cells.items()]
        expected[name] = f"| {min(gains):+.2f} to {max(gains):+.2f} |"
    assert expected["HC-SA"] in hard and expected["Syn-R"] in synthesizer


def test_the_difference_in_a_table_is_that_of_the_means_beside_it(refs):
    records = [
        score_record(BASE, damaged(refs, 4)),
        score_record(BASE, damaged(refs, 2), 2),
        score_record(HARD, damaged(refs, 8)),
    ]
    text = score_table(
        Evidence("smoke", records), "you2020", "Table 2", [Row(BASE, {}), Row(HARD, {})]
    )
    scores = [bleu(damaged(refs, every), refs) for every in (4, 2)]
    mean = statistics.mean(scores)
    assert (
        f"| {mean:.2f} ± {statistics.stdev(scores):.2f} |" in text
        and f"{bleu(damaged(refs, 8), refs) - mean:+.2f} (" in text
    )


def test_without_the_corpus_tables_have_all_their_numbers(evidence, monkeypatch):
    """In a process of its own, no corpus could be read: here nothing may ask for one."""
    names = ("you2020.figure4", "you2020.table1", "zeng2021.table1")
    with_corpus = [experiment_section(*find_experiments(name)[0], evidence).text for name in names]

    def absent(*_):
        raise MachineError("minigerman", "is not here", "get it")

    for place in ("corpora.load_corpus", "corpora._load_published_once"):
        monkeypatch.setattr(f"repro.data.{place}", absent)
    # what it made while the corpus was there is kept
    monkeypatch.setattr("repro.claims.settings._config", settings._config.__wrapped__)
    assert [
        experiment_section(*find_experiments(name)[0], evidence).text for name in names
    ] == with_corpus


def test_without_the_corpus_the_other_rows_of_a_table_with_a_part_of_unknown_size_stand(
    evidence, monkeypatch
):
    def absent(*_):
        raise MachineError("minigerman", "is not here", "get it")

    for place in ("data.sizes", "papers.printed_tables"):
        monkeypatch.setattr(f"repro.{place}.corpus_statistics", absent)
    # what it made while the corpus was there is kept
    monkeypatch.setattr("repro.claims.settings._config", settings._config.__wrapped__)
    paper, experiment = find_experiments("zeng2021.table1")[0]
    text = experiment_section(paper, experiment, evidence).text
    assert re.search(r"^\| base \| \d+\.\d\d ", text, re.M)
    assert "| base (25% of the data) | needs its corpus |" in text
    assert (
        " --scale smoke`: what needs a part of the corpus, of which only the corpus tells the size."
        in text
    )
    corpora = experiment_section(*find_experiments("you2020.table1")[0], evidence).text.splitlines()
    assert (
        re.search(r"\d", corpora[-2])
        and corpora[-1].startswith("| ours, ")
        and "| needs its corpus |" in corpora[-1]
    )


def test_printed_numbers_are_those_of_the_page():
    assert [cell.value for cell in printed_numbers("you2020", "Table 6")] == [
        27.4,
        27.8,
        28.1,
        30.3,
    ]
    assert (
        printed_numbers("cui2019", "Table 5", row="MMA w=1", column="De-En")[0].as_printed
        == "35.41"
    )
    assert printed_numbers("raganato2020", "Table 1") == []
    assert all(cell.approx for cell in printed_numbers("voita2019", "Figure 7"))


def test_printed_rows_of_several_corpora_stand_in_the_order_of_their_numbers():
    _, _, first, second, *rest = printed_grid(
        printed_numbers("voita2019", "Figure 7"), "printed"
    ).splitlines()
    assert (first, second) == (
        "| 48 encoder heads kept | 29.6 | 32.4 |",
        "| 35 encoder heads kept | 29.7 | - |",
    )
    assert [int(row.split()[1]) for row in rest] == [
        30,
        19,
        17,
        14,
        12,
        11,
        10,
        9,
        8,
        7,
        6,
        5,
        4,
        3,
        2,
        1,
    ]
    sites = printed_grid(printed_numbers("voita2019", "Figure 9"), "printed").splitlines()
    assert [row.split(" |")[0] for row in sites[2:5]] == [
        "| 0 heads pruned",
        "| 16 heads pruned",
        "| 40 heads pruned",
    ]
    # two models keep as many heads of a type
    with pytest.raises(ValueError, match="84 printed numbers have 78 places in a grid"):
        printed_grid(printed_numbers("voita2019", "Figure 10"), "printed")


def test_a_plan_names_each_missing_run_once(evidence):
    experiments = [experiment for _, experiment in find_experiments("you2020.table2")]
    first = plan(experiments * 2, evidence, seeds=1)
    digests = [config.digest() for config in first.trainings]
    assert len(digests) == len(set(digests))
    assert not {BASE.config("smoke").digest(), HARD.config("smoke").digest()} & set(digests)
    assert Setting("hc-all").config("smoke").digest() in digests
    assert len(plan(experiments, evidence, seeds=2).trainings) == 2 * len(digests)


def test_what_claims_ask_of_models_is_measured_for_every_seed_and_maps_are_drawn_of_the_first(
    evidence,
):
    experiment = Experiment(
        "x",
        "X",
        "x",
        (HARD,),
        lambda _: "",
        measures=dict.fromkeys(("masks", "heads", "contrastive", "maps"), (HARD,)),
    )
    wanted = [
        (kind, config.train.seed) for config, kind in plan([experiment], evidence, seeds=3).measures
    ]
    every = [(kind, seed) for kind in ("masks", "heads", "contrastive") for seed in (1, 2, 3)]
    assert wanted == [*every, ("maps", 1)]


def test_each_seed_is_pruned_in_a_sitting_of_its_own(evidence):
    """So the record of one is kept before the next begins."""
    experiment = Experiment("x", "X", "x", (PRUNED,), lambda _: "", measures={"pruning": (PRUNED,)})
    config = PRUNED.config("smoke", 2)
    done = {"kind": "pruning", "config": asdict(config), "config_digest": config.digest()}
    sessions = plan([experiment], Evidence("smoke", [done]), seeds=3).sessions
    assert [(kind, [config.train.seed for config in configs]) for kind, configs in sessions] == [
        ("pruning", [1]),
        ("pruning", [3]),
    ]


def test_a_sitting_is_measured_as_a_whole(evidence):
    experiment = Experiment(
        "x", "X", "x", (BASE, HARD), lambda _: "", measures={"speed": (BASE, HARD)}
    )
    assert [(kind, len(configs)) for kind, configs in plan([experiment], evidence, 1).sessions] == [
        ("speed", 2)
    ]


def test_a_sitting_takes_in_the_runs_of_the_one_before(evidence):
    """Its records replace those of the same models, so what those were compared with would be left
    behind."""
    ran = Setting("ran-all")
    one = Experiment("x", "X", "x", (BASE, HARD), lambda _: "", measures={"speed": (BASE, HARD)})
    other = Experiment("y", "Y", "y", (BASE, ran), lambda _: "", measures={"speed": (BASE, ran)})
    config = {
        setting: {"config": asdict(setting.config("smoke")), "split": "test"}
        for setting in (BASE, HARD)
    }
    before = [
        record | config[setting]
        for record, setting in zip(
            speed_records(base=[1.0], hc_sa=[2.0]), (BASE, HARD), strict=True
        )
    ]
    assert plan([one], Evidence("smoke", before), 1).sessions == []
    ((kind, configs),) = plan([other], Evidence("smoke", before), 1).sessions
    assert (kind, configs) == ("speed", [setting.config("smoke") for setting in (BASE, ran, HARD)])
    apart = [*before[:1], before[1] | {"sitting": ["another"]}]
    assert [len(configs) for _, configs in plan([one], Evidence("smoke", apart), 1).sessions] == [2]


def test_two_arms_that_are_one_model_are_measured_once(evidence):
    same = Setting("base", ("model.dropout=0.0",))  # as the scale has it
    assert same != BASE and same.config("smoke") == BASE.config("smoke")
    experiment = Experiment(
        "x", "X", "x", (BASE, same), lambda _: "", measures={"maps": (BASE, same)}
    )
    assert [kind for _, kind in plan([experiment], evidence, 1).measures] == ["maps"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("you2021", "paper: unknown paper 'you2021'. Fix: did you mean 'you2020'?"),
        (
            "you2020.table9",
            "you2020.table9: you2020 has no experiment 'table9'. Fix: did you mean 'table",
        ),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name, message):
    with pytest.raises(InputError) as error:
        find_experiments(name)
    assert str(error.value).startswith(message)


def test_every_printed_number_belongs_to_an_experiment():
    """Those of a table or figure are shown beside ours; those of the text below it, whether
    anything of it has been run or not."""

    def shows(experiment: Experiment, place: str) -> bool:
        numbered = [
            rf"{kind}s? (\d+ and )?{number}\b"
            for kind, number in re.findall(r"(Table|Figure) (\d+)", place)
        ]
        return place in experiment.said or any(
            re.search(pattern, experiment.place) for pattern in numbered
        )

    places = {(number.paper, number.place) for number in _numbers()}
    homeless = [
        (paper, place)
        for paper, place in places
        if not any(shows(e, place) for e in load_paper(paper).experiments)
    ]
    assert not homeless
    assert all(
        printed_numbers(paper.name, place)
        for paper in map(load_paper, PAPERS)
        for e in paper.experiments
        for place in e.said
    )


def test_numbers_of_the_text_stand_below_an_experiment_that_has_not_been_run():
    text = experiment_section(*find_experiments("you2020.table2")[0], Evidence("smoke", [])).text
    assert "In the paper's text:" in text
    assert "| hc-all | dev BLEU | BLEU | IWSLT16 En-De | 21.1 |" in text
    assert (
        "In the paper's text:"
        not in experiment_section(
            *find_experiments("you2020.table6")[0], Evidence("multi30k", [])
        ).text
    )


def test_the_weights_of_a_hard_coded_head_are_those_that_the_paper_prints():
    text = experiment_section(*find_experiments("you2020.figure1")[0], Evidence("smoke", [])).text
    ours = re.search(r"\| weight \| (.+) \|", text).group(1).split(" | ")
    for number in (
        *printed_numbers("you2020", "Figure 1 note"),
        *printed_numbers("you2020", "text §6.3"),
    ):
        cut = (len(ours) - len(number.value)) // 2  # a window of three keeps the middle
        assert [float(weight) for weight in ours[cut : len(ours) - cut]] == pytest.approx(
            number.value, abs=0.005
        ), number.place
        assert ", ".join(re.findall(r"\d\.\d+", number.as_printed)) in text


def test_shares_of_rare_words_stand_by_head():
    site = {
        "roles": [[["unknown"]]] * 2,
        "relevance": [[1.0], [2.0]],
        "rarest": [[0.25], [0.75]],
        "two_rarest": [[0.5], [1.0]],
    }
    text = rare_table(
        Evidence("smoke", [heads_about(Setting("base"), encoder_self=site)]), Setting("base")
    )
    assert text.startswith(
        "Measured on minigerman, en to de, 9 sentences of dev, training seed 1.\n\n"
    )
    assert text.endswith("| 1.1 | 1.000 | 25% | 50% |")


def test_the_page_says_that_no_head_meets_a_criterion():
    def text(role: str) -> str:
        heads = of_one_training("heads") | {
            "sites": {"encoder_self": {"roles": [[[role], ["unknown"]]]}}
        }
        series = {
            "encoder": {"heads": 2, "points": [{"heads": 1, "kept_heads": {"encoder_self": [[1]]}}]}
        }
        return roles_table(
            Evidence("smoke", [heads, of_one_training("pruning") | {"series": series}])
        )

    assert "\n\n**Ours**: No head meets the criterion of any role.\n\n" in text("unknown")
    assert "No head meets" not in text("rare") and "| 1 | 2 | 0 | 0 | 1 | 0 | 1 |" in text("rare")


def roles_of_pruned(*kept: list[int]) -> str:
    """Return the table of models that kept some of two heads, at penalties 0.1, 0.2 and so on."""
    heads = of_one_training("heads") | {
        "sites": {"encoder_self": {"roles": [[["rare"], ["unknown"]]]}}
    }
    points = [
        {"heads": len(some), "penalty": number / 10, "kept_heads": {"encoder_self": [some]}}
        for number, some in enumerate(kept, start=1)
    ]
    series = {"encoder": {"heads": 2, "points": points}}
    return roles_table(Evidence("smoke", [heads, of_one_training("pruning") | {"series": series}]))


def test_pruned_models_with_as_many_heads_are_told_apart():
    text = roles_of_pruned([0], [1])
    assert "| 2 | 0 | 0 | 1 | 0 | 1 |" in text
    assert "| 1, penalty 0.1 | 0 | 0 | 1 | 0 | 0 |" in text
    assert "| 1, penalty 0.2 | 0 | 0 | 0 | 0 | 1 |" in text


def test_a_sweep_that_shuts_no_gate_has_its_rows_beside_the_model_before():
    text = roles_of_pruned([0, 1], [0, 1], [1])
    assert all(f"| 2, penalty {penalty} | 0 | 0 | 1 | 0 | 1 |" in text for penalty in (0, 0.1, 0.2))
    assert "| 1 | 0 | 0 | 0 | 0 | 1 |" in text


def test_roles_of_one_training_say_nothing_of_heads_kept_in_another():
    heads = heads_record(offset=1) | {"provenance": {"started": "yesterday"}}
    other = Evidence("smoke", [heads, pruning_record([[0], [0, 1]])])
    for number in (roles_table, survival_difference):
        with pytest.raises(
            NotMeasured,
            match=r"heads and pruning of base \(model.num_heads=8\), seed 1: are of two trainings",
        ):
            number(other)
    second = described(PRUNED, seed=2)
    both = Evidence(
        "smoke",
        [
            heads,
            *(r | second for r in (heads_record(offset=1), pruning_record([[0], [0, 1]]))),
            pruning_record([[], []]),
        ],
    )
    assert both.shared_seeds(["heads", "pruning"], (PRUNED,)) == [2] and both.shared_seeds(
        ["heads"], (PRUNED,)
    ) == [1, 2]
    assert survival_difference(both).value == pytest.approx(2 / 3 - 1 / 13)


def test_the_curve_of_pruning_tells_heads_and_scores(refs):
    points = [{"heads": 4, "config_digest": "pruned", "kept_heads": {}}]
    record = {
        **of_one_training("pruning"),
        "series": {"encoder": {"heads": 16, "points": points, "continued": "control"}},
    }
    scored = [
        score_record(PRUNED, refs)
        | {"config_digest": digest, "scores": [{"name": "BLEU", "value": value}]}
        for digest, value in (("pruned", 30.5), ("control", 31.0))
    ]
    evidence = Evidence("smoke", [*scored, record])
    (figure,) = curve_figure(evidence).values()
    assert figure.data[0].customdata.tolist() == [[4, 30.5], [16, 31.0]] and list(
        figure.data[0].y
    ) == [-0.5, 0]
    assert figure.data[0].name == "base (model.num_heads=8), seed 1"
    assert max(heads for heads, _ in figure.data[1].customdata) == 48


def test_what_needs_no_run_is_not_called_done(evidence):
    statuses = {
        experiment_status(find_experiments(name)[0][1], evidence)
        for name in ("raganato2020.figure1", "you2020.figure1", "voita2019.figure6")
    }
    assert statuses == {"needs no run"}
    assert experiment_status(find_experiments("cui2019.table2")[0][1], evidence) == "in part"
    assert (
        experiment_status(find_experiments("cui2019.table2")[0][1], Evidence("smoke", []))
        == "not run"
    )


def test_every_difference_of_mixed_heads_says_against_what(evidence):
    ((_, experiment),) = find_experiments("cui2019.table3")
    text = experiment.render(evidence)
    assert (
        "| ours: BLEU | ours: length ratio / brevity penalty | ours: difference to base | seeds | "
        "parameters | printed difference to base | printed: " in text
    )
    assert (
        "Δ, as printed: MMA minus the Transformer, both with or both without the embedding." in text
    )


def test_an_arm_says_its_conditions_and_knows_its_part_of_the_data():
    setting = Setting("7Ftoken+1L", ("model.decoder_layers=1",), part=0.25)
    assert str(setting) == "7Ftoken+1L (model.decoder_layers=1, 25% of the data)"
    assert (
        setting.config("smoke").data.train_pairs,
        setting.config("smoke").model.decoder_layers,
    ) == (
        5000,
        1,
    )
    assert (
        Setting("sh-x", ("model.cross=none; last: dot-product(heads={layers})",))
        .config("smoke")
        .model.cross.endswith("heads=2)")
    )
    assert (
        Setting("base", reverse=True).config("smoke").data.source,
        Setting("base").config("smoke").data.source,
    ) == ("de", "en")


def test_an_arm_is_named_in_words_where_it_has_them_and_no_name_holds_a_blank():
    plain, named = (
        Setting("sh-x", ("model.cross=dot-product(heads={layers})",), label=label)
        for label in ("", "all heads")
    )
    assert str(named) == "sh-x (all heads)" and plain == named
    settings = {
        setting
        for paper in map(load_paper, PAPERS)
        for experiment in paper.experiments
        for setting in experiment.settings
    }
    assert not [str(setting) for setting in settings if "{" in str(setting)]
    (claim,) = [claim for claim in claims_of() if claim.name == "Y-11"]
    assert [str(setting) for setting in claim.settings()] == [
        "sh-x (one cross head in every layer)",
        "sh-x (as many cross heads, all in the last layer)",
    ]
