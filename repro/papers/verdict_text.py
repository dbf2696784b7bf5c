"""Write verdicts as text: a table, and what each verdict rests on, scale by scale."""

from collections.abc import Iterable

from repro.claims.conditions import Claim
from repro.claims.evidence import Evidence
from repro.claims.outcomes import STATUSES, Verdict
from repro.claims.verdict_fields import StoredVerdict
from repro.markdown import table
from repro.papers.verdicts import NO_DATA, experiments_of, lacking, needed_by, verdict_on
from repro.records.stored import place_of
from repro.scales import command_options


def verdict_table(claims: Iterable[Claim], verdicts: Iterable[Verdict]) -> str:
    """Return a table of verdicts on the papers' claims, those not reproduced first."""
    by_name = {claim.name: claim for claim in claims}
    ordered = sorted(verdicts, key=lambda verdict: (STATUSES.index(verdict.status), verdict.claim))
    rows = [
        [
            v.claim,
            by_name[v.claim].statement,
            v.said,
            by_name[v.claim].reported,
            "; ".join([*(v.evidence or [v.reason]), *v.notes]),
        ]
        for v in ordered
    ]
    return table(["claim", "statement", "verdict", "reported", "evidence"], rows)


def evidence_lines(claims: Iterable[Claim], verdicts: dict[str, dict[str, StoredVerdict]]) -> str:
    """Return the evidence for the verdicts on papers' claims, scale by scale."""
    parts = []
    for claim in claims:
        lines = [f"{claim.name} {claim.statement} (reported: {claim.reported})"]
        for scale, of_scale in verdicts.items():
            verdict = verdict_on(claim, of_scale)
            commands = deciding_commands(claim, scale, verdict, command_options(scale))
            lines += [
                f"     {scale}: {verdict.said}: {verdict.reason}",
                *(f"         {line}" for line in verdict.evidence),
                *(f"         {note}" for note in verdict.notes),
                *(f"         {line}" for line in commands),
            ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def record_lines(claim: Claim, evidence: Evidence) -> list[str]:
    """Return the records that a paper's claim rests on, a line each: setting, seed, file."""
    wanted = [("scores", setting) for setting in claim.settings()] + claim.measures()
    return [
        f"{setting}, seed {seed}: {place_of(record)}"
        for kind, setting in wanted
        for seed, records in sorted(evidence.by_seed(kind, setting).items())
        for record in records
        if record.get("split", evidence.split) == evidence.split
    ]


def deciding_commands(
    claim: Claim, scale: str, verdict: Verdict, options: str, evidence: Evidence | None = None
) -> list[str]:
    """Return the command that makes what a paper's claim lacks: its records, or planned seeds.

    There is none if nothing is missing, or no experiment makes it.

    Args:
        claim, scale, verdict: what was judged, and where.
        options: of the command, see `command_options`.
        evidence: what was judged by; experiments that it is complete for are not named.
    """
    few = verdict.seeds[0] if verdict.seeds else verdict.planned
    if verdict.status == NO_DATA:
        what, seeds, more = "run it", 1, ""
    elif verdict.status == "undecided" and few < verdict.planned:
        what, seeds = "the planned seeds", verdict.planned
        more = f" --seeds {seeds}"
    else:
        return []
    wanted = needed_by(claim) if evidence is None else lacking(claim, evidence, seeds)
    experiments = experiments_of(claim, wanted)
    if not experiments or (claim.scales is not None and scale not in claim.scales):
        return []
    return [f"{what}: {' '.join(['repro run', *experiments, options])}{more}"]
