"""The rule on server groups whose policy the scheduler is not set up for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.groups import policies_off
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.nova.weigher.ranking import WEIGHERS
from osc_traitsched.text import listed


@dataclasses.dataclass(frozen=True)
class FiltersGroupPolicy(Finding):
    """A policy of server groups whose filter or weigher is not on.

    :ivar name: of the option that lists what is on
    :ivar needed: the filter or weigher
    :ivar groups: the names of the groups with the policy
    """

    rule = "filters-group-policy"
    severity = Severity.ERROR
    kind = Kind.OPTION
    name: str
    policy: str
    needed: str
    groups: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"{self.needed} is not on ({self.setting.source}): Nova refuses every "
            f"server of {listed(self.groups, 'server group')}, whose policy is "
            f"{self.policy}",
            f"add {_loaded(self)} to the list",
        )


def group_policy(analysis: Analysis) -> Iterator[FiltersGroupPolicy]:
    """Find policies of server groups that Nova refuses, before it looks at any host.

    nova/scheduler/utils.py, ``_get_group_details``
    """
    settings = analysis.survey.assumptions
    for policy, needed in policies_off(settings).items():
        named = (g.name for g in analysis.survey.groups if g.policy == policy)
        groups = tuple(sorted(named))
        if groups:
            is_filter = needed in FILTERS
            option = options.ENABLED_FILTERS if is_filter else options.WEIGHT_CLASSES
            setting = settings.setting(option)
            yield FiltersGroupPolicy(option, policy, needed, groups, setting)


def _loaded(finding: FiltersGroupPolicy) -> str:
    known = WEIGHERS.get(finding.needed)
    return known.path if known else finding.needed
