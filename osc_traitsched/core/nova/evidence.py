"""Options that the cloud itself shows, in place of defaults that are only assumed.

No API shows nova.conf. All these values restrict hosts. So a host that is possible
under them is possible as well if the option is off, and a printed command succeeds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.groups import SCOPE
from osc_traitsched.core.nova.filter.table import is_list_known
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.question import Question


@dataclasses.dataclass(frozen=True)
class Evidence(Setting):
    """A value for which the cloud shows evidence; nobody gave it.

    :ivar before: the setting that it replaces; None for the release's default
    :ivar filters: the host filters that it enables, each with its evidence
    """

    before: Setting | None = None
    filters: tuple[tuple[str, str], ...] = ()


def assumed_by_evidence(
    settings: SchedulerSettings,
) -> tuple[tuple[str, Evidence], ...]:
    """Options with values by evidence, by name."""
    found = sorted(settings.settings.items())
    return tuple((name, each) for name, each in found if isinstance(each, Evidence))


def filters_of(settings: SchedulerSettings) -> tuple[tuple[str, str], ...]:
    """Host filters that evidence enables, each with the evidence; none if confirmed."""
    found = settings.setting(options.ENABLED_FILTERS)
    return found.filters if isinstance(found, Evidence) and not found.given else ()


def unconfirmed(settings: SchedulerSettings) -> tuple[tuple[str, str], ...]:
    """Options and host filters by evidence that may be otherwise, each with it."""
    found = (
        (name, each.source)
        for name, each in assumed_by_evidence(settings)
        if not each.given and not each.filters
    )
    return (*found, *filters_of(settings))


def without_evidence(settings: SchedulerSettings) -> SchedulerSettings:
    """The settings as they were given or assumed before."""
    found = dict(settings.settings)
    for name, each in assumed_by_evidence(settings):
        del found[name]
        if each.before is not None:
            found[name] = each.before
    return dataclasses.replace(settings, settings=found)


def of_question(question: Question) -> Question:
    """The question with the values that aggregates and flavor show."""
    name, specs = str(question.flavor["name"]), question.flavor["extra_specs"]
    settings = with_evidence(question.assumptions, question.aggregates, name, specs)
    return dataclasses.replace(question, assumptions=settings)


def with_evidence(
    settings: SchedulerSettings,
    aggregates: Iterable[Aggregate],
    flavor: str = "",
    extra_specs: Mapping[str, str] | None = None,
) -> SchedulerSettings:
    """The settings with values by evidence for options that were not given.

    The settings without ``--set`` and those of other releases get them, too.
    """
    aggregates = tuple(aggregates)
    evidence = aggregates, flavor, extra_specs
    settings = without_evidence(settings)
    found = dict(settings.settings)
    reasons = dict(_options(settings, aggregates))
    for option, why in reasons.items():
        if not settings.is_known(option) and not settings.value(option):
            found[option] = Evidence(True, why, before=found.get(option))
    filters = tuple(_filters(settings, reasons, flavor, extra_specs or {}))
    before = settings.setting(options.ENABLED_FILTERS)
    if filters:
        value = (*before.items, *(name for name, _ in filters))
        why = "; ".join(f"{name}: {reason}" for name, reason in filters)
        found[options.ENABLED_FILTERS] = Evidence(
            value,
            f"{before.source}, and {why}",
            before=found.get(options.ENABLED_FILTERS),
            filters=filters,
        )
    own = settings.without_set
    return dataclasses.replace(
        settings,
        settings=found,
        without_set=own and with_evidence(own, *evidence),
        others=tuple(with_evidence(each, *evidence) for each in settings.others),
    )


def confirmed(
    settings: SchedulerSettings, names: Iterable[str], server: str
) -> SchedulerSettings:
    """The settings with these options known from a failed server."""
    found = {
        name: dataclasses.replace(
            each, given=True, source=f"server {server} failed, which shows it"
        )
        for name, each in assumed_by_evidence(settings)
        if name in names
    }
    return dataclasses.replace(settings, settings={**settings.settings, **found})


def _options(
    settings: SchedulerSettings, aggregates: Iterable[Aggregate]
) -> Iterator[tuple[str, str]]:
    """Options that metadata of aggregates shows; the first aggregate by name counts."""
    rows = [row for row in options.options_in(settings.release) if row.evidence]
    for aggregate in sorted(aggregates, key=lambda each: each.name, reverse=True):
        name, metadata = aggregate.name, aggregate.metadata
        for row in rows:
            for key in row.keys(metadata, settings.collation)[:1] if row.keys else ():
                shown = row.evidence.format(key=key, value=metadata[key])
                yield row.name, f"aggregate {name} has {shown}"


def _filters(
    settings: SchedulerSettings,
    reasons: Mapping[str, str],
    flavor: str,
    extra_specs: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    before = settings.setting(options.ENABLED_FILTERS)
    if is_list_known(settings):
        return
    if options.TENANT in reasons and special.PROJECT not in before.items:
        yield special.PROJECT, reasons[options.TENANT]
    scoped = sorted(key for key in extra_specs if key.startswith(f"{SCOPE}:"))
    if scoped and special.EXTRA_SPECS not in before.items:
        yield special.EXTRA_SPECS, f"flavor {flavor} has {scoped[0]}"
