"""The table of claims as text, where no script runs."""

from expected_errors import refuses

from repro.errors import InputError
from repro.widgets import claims_table

CLAIM = {
    "id": "a1",
    "paper": "Nobody 2020",
    "statement": "<b>bold</b> & more",
    "verdict": "partly",
    "evidence": "2 < 3\n4 & 5",
}


def test_claims_are_text_and_the_failed_come_first():
    odd = {**CLAIM, "verdict": "who knows"}
    text = claims_table([odd, CLAIM, {**CLAIM, "verdict": "not reproduced"}]).instead
    assert text.index("not reproduced") < text.index("partly") < text.index("who knows")
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more" in text and "<b>bold" not in text
    assert "<p>2 &lt; 3<br>4 &amp; 5</p></details>" in text


def test_a_claim_that_lacks_a_text_is_refused():
    with refuses(InputError, "claim 1", "verdict, evidence", "give verdict, id, paper"):
        claims_table([CLAIM, {"id": "", "paper": "", "statement": "", "evidence": None}])
