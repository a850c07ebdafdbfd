"""All that is known of the hosts that the user named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from osc_traitsched.core.explain.judgement import Judgement
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.clause import AFTER_PLACEMENT, Resource
from osc_traitsched.views.explain import filters, headline, words
from osc_traitsched.views.terminal import Line, Tone

_MOST_NEAREST = 5


def lines(
    judgement: Judgement, shown: Sequence[Provider], everything: bool = True
) -> Iterator[Line]:
    """What is known of the hosts that the user named.

    :param everything: conditions that they meet, too, and where each comes from
    """
    for host in shown:
        takes = judgement.is_candidate(host)
        yield _can(judgement, host)
        found = judgement.rejection_by_clauses(host)
        for name, answer in judgement.filtering.answers(host.uuid):
            yield Line(f"  {filters.answer(answer, name)}")
        if takes and found is not None:
            by_second = host in judgement.fallback_candidates
            who = (
                "Nova's second query, with VCPU for PCPU," if by_second else "Placement"
            )
            yield Line(f"  {who} returns it all the same")
        elif found is not None and len(found.correction_sets) > 1:
            yield Line("  would fit without any one of:")
            for clauses in found.correction_sets[:_MOST_NEAREST]:
                yield Line(f"    {words.clauses(clauses, judgement)}")
        yield from (Line(f"  {each}") for each in headline.remarks(judgement, host))
        failing = found.failing if found is not None else ()
        # Those that fail come first.
        for clause in sorted(judgement.clauses, key=lambda each: each not in failing):
            fails = clause in failing
            is_filter = isinstance(clause, AFTER_PLACEMENT)
            is_told = not fails or is_filter or headline.is_disabling(clause)
            if is_told and not everything:
                continue
            origins = words.origins(clause) if everything else ""
            source = f"  ({origins})" if origins else ""
            yield Line(
                f"  {'no ' if fails else 'yes'}  {words.clause(clause, judgement)}"
                f"{source}",
                Tone.NO if fails else None,
            )
            if isinstance(clause, Resource):
                yield from _figures(judgement, host, clause)


def _can(judgement: Judgement, host: Provider) -> Line:
    if not judgement.is_candidate(host):
        return Line(f"{host.name}: cannot take it", Tone.NO)
    if host in judgement.uncertain:
        return Line(f"{host.name}: may take it; it is not known", Tone.DOUBT)
    return Line(f"{host.name}: can take it", Tone.YES)


def _figures(judgement: Judgement, host: Provider, clause: Resource) -> Iterator[Line]:
    name = clause.resource_class
    for provider, stock in judgement.stock(host, name):
        yield Line(f"     {name} of {provider.name}: {words.figures(stock, name)}")
