"""Rules of the area weighers: those that are on, and what aggregates say of them."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Collection, Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.words import aggregate_set, unset
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import IMAGE_PROPERTIES
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.nova.weigher import ranking, weighing
from osc_traitsched.core.nova.weigher.weighing import Weigher
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Placeholder
from osc_traitsched.text import did_you_mean, option, quoted

_MULTIPLIER = "weight_multiplier"


@dataclasses.dataclass(frozen=True)
class WeighersGone(Finding):
    """A name in the list of weighers with which nova-scheduler does not start.

    :ivar weigher: the name
    :ivar nearest: the one like it that the release has; none if there is none
    :ivar release: Nova's
    """

    rule = "weighers-gone"
    severity = Severity.ERROR
    kind = Kind.OPTION
    name = options.WEIGHT_CLASSES
    weigher: str
    nearest: tuple[str, ...]
    release: int
    setting: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        wrong = f"Nova {release(self.release)} has no weigher {quoted(self.weigher)}"
        if "." not in self.weigher:
            wrong = f"{quoted(self.weigher)} is a name without a module"
        return Words(
            f"{wrong}, and nova-scheduler does not start ({self.setting.source})"
            f"{did_you_mean(self.nearest)}",
            "name it by its module and class, or take it out of the list",
        )


def gone(analysis: Analysis) -> Iterator[WeighersGone]:
    """Find names of Nova's own that the release lacks, and names without a module.

    nova/loadables.py, ``get_matching_classes``: each name is imported, and so has to
    be a path.
    """
    settings = analysis.survey.assumptions
    setting = settings.setting(options.WEIGHT_CLASSES)
    known = ranking.paths(settings.release)
    for name in ranking.not_loadable(settings):
        by_class = [each for each in known if each.rpartition(".")[2] == name]
        nearest = tuple(by_class) or near_names(name, known)
        yield WeighersGone(name, nearest[:1], settings.release, setting)


@dataclasses.dataclass(frozen=True)
class WeighersBadMultiplier(Finding):
    """A multiplier of an aggregate that is not a number.

    :ivar id: the aggregate's
    :ivar key: of its metadata, with its value
    :ivar weigher: the one that reads it
    :ivar option: the option that counts for its hosts instead
    """

    rule = "weighers-bad-multiplier"
    severity = Severity.WARNING
    kind = Kind.AGGREGATE
    name: str
    id: int
    key: str
    value: str
    weigher: str
    option: str
    setting: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        setting = self.setting
        return Words(
            f"{self.key}={self.value} is no number: {self.weigher} logs a "
            f"warning, and goes by {option(self.option)}, {setting.value} "
            f"({setting.source}), for the hosts of the aggregate",
            aggregate_set(self.id, Placeholder(f"{self.key}=NUMBER")),
        )


def bad_multiplier(analysis: Analysis) -> Iterator[WeighersBadMultiplier]:
    """Find multipliers that are not numbers, so that the option's counts.

    nova/scheduler/utils.py, ``get_weight_multiplier``
    """
    enabled = {each.aggregate_key: each for each in _enabled(analysis)}
    for aggregate, key, value in _pairs(analysis):
        weigher = enabled.get(key)
        if weigher is not None and not weighing.is_multiplier(value):
            yield WeighersBadMultiplier(
                aggregate.name,
                aggregate.id,
                key,
                value,
                weigher.name,
                weigher.option,
                analysis.setting(weigher.option),
            )


class Cause(enum.Enum):
    """Why a multiplier has no effect."""

    #: Its weigher is not in the list.
    OFF = "off"
    #: The release has no such weigher.
    RELEASE = "release"
    #: Its weigher does nothing unless the option, too, says so.
    OPTION = "option"
    #: No weigher of Nova's has such a multiplier.
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class WeighersKeyOff(Finding):
    """A multiplier of an aggregate that no weigher reads.

    :ivar id: the aggregate's
    :ivar key: of its metadata, with its value
    :ivar weigher: Nova's that would read it; empty for none
    :ivar release: Nova's
    :ivar setting: of what decides about it: the list of weighers, or the option
    :ivar nearest: the multiplier that is like an unknown one; none if none is
    """

    rule = "weighers-key-off"
    kind = Kind.AGGREGATE
    severity: Severity
    name: str
    id: int
    key: str
    value: str
    cause: Cause
    weigher: str
    release: int
    setting: Setting
    nearest: tuple[str, ...]

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"{self.key}={self.value} has no effect: {_why(self)}",
            unset(Kind.AGGREGATE, [self.key], str(self.id)),
        )


def key_off(analysis: Analysis) -> Iterator[WeighersKeyOff]:
    """Find multipliers without effect; weighers of one's own may read any."""
    settings = analysis.survey.assumptions
    by_key = {each.aggregate_key: each for each in ranking.WEIGHERS.values()}
    enabled = {each.name for each in _enabled(analysis)}
    read = [key for key, each in by_key.items() if each.is_in(settings.release)]
    for aggregate, key, value in _pairs(analysis):
        weigher = by_key.get(key)
        cause = _cause(analysis, weigher, enabled)
        if cause is None:
            continue
        option = options.WEIGHT_CLASSES
        if weigher and cause is Cause.OPTION:
            option = weigher.option
        setting = settings.setting(option)
        yield WeighersKeyOff(
            Severity.WARNING if setting.given else Severity.NOTE,
            aggregate.name,
            aggregate.id,
            key,
            value,
            cause,
            weigher.name if weigher else "",
            settings.release,
            setting,
            () if weigher else near_names(key, read)[:1],
        )


def _cause(
    analysis: Analysis, weigher: Weigher | None, enabled: Collection[str]
) -> Cause | None:
    """Return why a multiplier has no effect; None for one that has, or may have."""
    settings = analysis.survey.assumptions
    if weigher is None or weigher.name not in enabled:
        if ranking.has_own(settings) or ranking.not_loadable(settings):
            return None
        if weigher is None:
            return Cause.UNKNOWN
        return Cause.OFF if weigher.is_in(settings.release) else Cause.RELEASE
    is_image = weigher.option == options.IMAGE_PROPERTIES
    return Cause.OPTION if is_image and not settings.value(weigher.option) else None


def _enabled(analysis: Analysis) -> tuple[Weigher, ...]:
    """Return Nova's own that are on; none if nova-scheduler does not start."""
    settings = analysis.survey.assumptions
    return () if ranking.not_loadable(settings) else ranking.enabled(settings)[0]


def _pairs(analysis: Analysis) -> Iterator[tuple[Aggregate, str, str]]:
    """Yield the multipliers of aggregates that are no key of flavors."""
    for aggregate in sorted(analysis.survey.nova.aggregates, key=lambda a: a.name):
        for key, value in sorted(aggregate.metadata.items()):
            of_flavors = key in analysis.filtering.keys_of_flavors
            if key.endswith(_MULTIPLIER) and not of_flavors:
                yield aggregate, key, value


RULES = (
    Rule(WeighersGone, "weighers", gone, Kind.OPTION),
    Rule(WeighersBadMultiplier, "weighers", bad_multiplier, Kind.AGGREGATE),
    Rule(WeighersKeyOff, "weighers", key_off, Kind.AGGREGATE),
)


def _why(finding: WeighersKeyOff) -> str:
    source = finding.setting.source
    if finding.cause is Cause.OFF:
        return f"{finding.weigher} is not on ({source})"
    if finding.cause is Cause.RELEASE:
        return f"Nova {release(finding.release)} has no {finding.weigher}"
    if finding.cause is Cause.OPTION:
        return (
            f"{finding.weigher} weighs nothing while {option(IMAGE_PROPERTIES)} is 0 "
            f"({source})"
        )
    return f"no weigher has such a multiplier{did_you_mean(finding.nearest)}"
