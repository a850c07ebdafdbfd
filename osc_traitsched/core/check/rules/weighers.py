"""Rules of the area weighers: those that are on, and what aggregates say of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova import weigher_options
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.nova.weigher import table


@dataclasses.dataclass(frozen=True)
class WeighersGone(Finding):
    """A name in the list of weighers with which nova-scheduler does not start.

    :ivar weigher: the name
    :ivar nearest: the one like it that the release has; none where there is none
    :ivar release: Nova's
    """

    rule = "weighers-gone"
    severity = Severity.ERROR
    kind = Kind.OPTION
    name = weigher_options.WEIGHT_CLASSES
    weigher: str
    nearest: tuple[str, ...]
    release: int
    setting: Setting


def gone(analysis: Analysis) -> Iterator[WeighersGone]:
    """Find names of Nova's own that the release lacks, and names without a module.

    nova/loadables.py, ``get_matching_classes``: each name is imported, and so has to
    be a path.
    """
    settings = analysis.survey.assumptions
    setting = settings.setting(weigher_options.WEIGHT_CLASSES)
    known = table.paths(settings.release)
    for name in table.not_loadable(settings):
        by_class = [each for each in known if each.rpartition(".")[2] == name]
        nearest = tuple(by_class) or near_names(name, known)
        yield WeighersGone(name, nearest[:1], settings.release, setting)


RULES = (Rule(WeighersGone, "weighers", gone, Kind.OPTION),)
