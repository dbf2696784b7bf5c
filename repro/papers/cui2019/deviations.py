"""The points in which this suite deviates from the paper."""

from repro.papers import Deviation, common_deviations

DEVIATIONS = (
    Deviation(
        "scaling of the products",
        "root of the hidden size, as written",
        "root of the head's width, as in fairseq",
    ),
    Deviation(
        "norm",
        "after the residual (equations 1 and 2)",
        "before the sublayer, for all systems alike",
    ),
    Deviation(
        "one type of head",
        "the other heads are replaced; how many is not said",
        "one global head, all others of the type",
    ),
    Deviation(
        "Figure 1",
        "a diagram of mixed heads",
        "notebook 04 builds it in code; there is nothing to measure",
    ),
    Deviation(
        "maps (Figure 3, claims M-08 and M-09)",
        "one sentence, in Japanese",
        "one sentence, in the scale's source language; numbers of one model and one sentence",
    ),
    Deviation("data", "WAT17 En-Ja, IWSLT14 De-En", "the corpus of the scale"),
    Deviation(
        "test set (scale `iwslt14`)",
        "tst2010 to tst2013 and dev2010, as written",
        "that of most papers, 6,750 pairs: dev2010, dev2012, tst2010 to tst2012",
    ),
    *common_deviations(
        "6+6 layers, 512 wide; 8 heads, for De-En 4 and half the feed-forward width; biases "
        "and embeddings not said",
        "a warm-up of 4,000 updates, then the inverse square root; choice of checkpoint not said",
        "5; penalty not said",
        "BLEU; by which tool and of which tokens is not said; the text of De-En is in lower case",
    ),
)
