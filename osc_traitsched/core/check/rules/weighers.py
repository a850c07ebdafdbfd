"""Rules of the area weighers: aggregates' multipliers."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Fault, Severity, SubjectKind
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.words import unset
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.weigher import ranking
from osc_traitsched.core.releases import release
from osc_traitsched.text import did_you_mean, option


@rule("weighers-key-off", SubjectKind.AGGREGATE)
def key_off(analysis: Analysis) -> Iterator[Fault]:
    """A multiplier of an aggregate that no weigher reads.

    A warning if the weighers were supplied, else a note. The weigher is off, or the
    release lacks it. Weighers of your own may read any key, so they silence the rule.
    """
    settings = analysis.survey.assumptions
    by_key = {weigher.aggregate_key: weigher for weigher in ranking.WEIGHERS.values()}
    keys = [key for key, each in by_key.items() if each.is_in(settings.release)]
    names_on = enabled(analysis)
    is_uncertain = ranking.has_own(settings) or ranking.not_loadable(settings)
    for aggregate, key, value in analysis.filtering.metadata:
        weigher = by_key.get(key)
        setting = settings.setting(options.WEIGHT_CLASSES)
        if not key.endswith("weight_multiplier"):
            continue
        if weigher and weigher.name in names_on:
            setting = settings.setting(weigher.option)
            if setting.value or not weigher.is_off_at_zero:
                continue
            reason = (
                f"{weigher.name} weighs nothing while {option(weigher.option)} is 0 "
                f"({setting.source})"
            )
        elif is_uncertain:
            continue
        elif weigher is None:
            nearest = near_names(key, keys)[:1]
            reason = f"no weigher has such a multiplier{did_you_mean(nearest)}"
        elif weigher.is_in(settings.release):
            reason = f"{weigher.name} is not on ({setting.source})"
        else:
            reason = f"Nova {release(settings.release)} has no {weigher.name}"
        yield Fault(
            Severity.WARNING if setting.given else Severity.NOTE,
            aggregate.name,
            f"{key}={value} has no effect: {reason}",
            unset(SubjectKind.AGGREGATE, [key], aggregate),
        )


def enabled(analysis: Analysis) -> frozenset[str]:
    """Nova's enabled weighers; none if nova-scheduler does not start."""
    settings = analysis.survey.assumptions
    if ranking.not_loadable(settings):
        return frozenset()
    return frozenset(weigher.name for weigher in ranking.enabled(settings)[0])


RULES = (key_off,)
