"""Rules of the areas config and weighers: the scheduler's options."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Collection, Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Severity, SubjectKind, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.words import enable, off_by, unset
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import RootTrait
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.options import IMAGE_PROPERTIES, NoEffect, is_removed
from osc_traitsched.core.nova.server import server
from osc_traitsched.core.nova.settings import AZ_FILTER, Setting
from osc_traitsched.core.nova.weigher import ranking
from osc_traitsched.core.nova.weigher.weighing import Weigher
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, openstack
from osc_traitsched.text import did_you_mean, listed, option, quoted

# Options, compared with the cloud's needs.


_RATIOS = "the allocation ratios of Placement's inventories do its work"


_BARE_METAL = "resource classes of bare metal nodes do its work"


_AMOUNTS = "Placement does its work"


#: Replacements of filters that Nova removed.
_SUCCESSORS = {
    "TrustedFilter": "traits can do its work",
    "TypeAffinityFilter": "nothing does its work",
    "ExactCoreFilter": _BARE_METAL,
    "ExactDiskFilter": _BARE_METAL,
    "ExactRamFilter": _BARE_METAL,
    "CoreFilter": _AMOUNTS,
    "DiskFilter": _AMOUNTS,
    "RamFilter": _AMOUNTS,
    "AggregateCoreFilter": _RATIOS,
    "AggregateDiskFilter": _RATIOS,
    "AggregateRamFilter": _RATIOS,
    "RetryFilter": "the alternate hosts that Nova chooses at once do its work",
}


#: The property that ImagePropertiesFilter reads as well, and its old name.
_FILTERED = frozenset({"hw_architecture", "architecture"})


@dataclasses.dataclass(frozen=True)
class ConfigIgnored(Finding):
    """A set option that this release of Nova does not read.

    From 2023.2 on, for example, Nova always looks up zones in Placement, and the option
    for that is gone.
    """

    rule = "config-ignored"
    severity = Severity.NOTE
    kind = SubjectKind.OPTION
    name: str
    source: str
    release: int

    def words(self) -> Words:
        return Words(
            f"set ({self.source}), and Nova {release(self.release)} does not look "
            "at it",
            "take it out, or name the release by --nova-release",
        )


def ignored(analysis: Analysis) -> Iterator[ConfigIgnored]:
    assumptions = analysis.survey.assumptions
    for name, source in assumptions.ignored:
        yield ConfigIgnored(name, source, assumptions.release)


@dataclasses.dataclass(frozen=True)
class ConfigFilterGone(Finding):
    """An enabled host filter that this release of Nova lacks.

    nova-scheduler does not start. The finding says what replaces the filter.
    """

    rule = "config-filter-gone"
    severity = Severity.ERROR
    kind = SubjectKind.OPTION
    name = options.ENABLED_FILTERS
    filter: str
    release: int
    setting: Setting

    def words(self) -> Words:
        return Words(
            f"Nova {release(self.release)} has no {self.filter}, and nova-scheduler "
            f"does not start ({self.setting.source})",
            f"take it out of the list: {_SUCCESSORS[self.filter]}",
        )


def filter_gone(analysis: Analysis) -> Iterator[ConfigFilterGone]:
    """``az-filter`` reports AvailabilityZoneFilter."""
    release = analysis.survey.assumptions.release
    setting = analysis.setting(options.ENABLED_FILTERS)
    names = setting.value if isinstance(setting.value, tuple) else ()
    for name in dict.fromkeys(names):
        if is_removed(name, release) and name != AZ_FILTER:
            yield ConfigFilterGone(name, release, setting)


@dataclasses.dataclass(frozen=True)
class ConfigFilterUnknown(Finding):
    """An enabled host filter that nova-scheduler can't load.

    nova-scheduler does not start. The name is misspelled, has quotes or brackets, or
    ``available_filters`` does not load it.

    :ivar is_novas: Nova has it, and ``available_filters`` leaves it out
    :ivar nearest: the loadable filter most like it, if any
    """

    rule = "config-filter-unknown"
    severity = Severity.ERROR
    kind = SubjectKind.OPTION
    name = options.ENABLED_FILTERS
    filter: str
    is_novas: bool
    nearest: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        return Words(
            "nova-scheduler does not start: it can't load a host filter "
            f"{quoted(self.filter)} ({self.setting.source})",
            self._fix(),
        )

    def _fix(self) -> str:
        available = option(options.AVAILABLE_FILTERS)
        if self.is_novas:
            return f"add a line to {available}: {options.ALL_FILTERS}"
        if self.nearest:
            return f"write {self.nearest[0]}"
        if not self.filter.isidentifier():
            return "write class names with commas between them, and nothing else"
        return f"take it out, or add the path of its class to {available}"


def filter_unknown(analysis: Analysis) -> Iterator[ConfigFilterUnknown]:
    """nova/scheduler/host_manager.py, ``_choose_host_filters``."""
    settings = analysis.survey.assumptions
    setting = settings.setting(options.ENABLED_FILTERS)
    for name, near in table.not_loadable(settings).items():
        if is_removed(name, settings.release):
            continue
        yield ConfigFilterUnknown(name, name in table.FILTERS, near, setting)


@dataclasses.dataclass(frozen=True)
class ConfigWeigherUnknown(Finding):
    """An enabled weigher that nova-scheduler can't load.

    nova-scheduler does not start. The name is misspelled, or has no module.
    """

    rule = "config-weigher-unknown"
    severity = Severity.ERROR
    kind = SubjectKind.OPTION
    name = options.WEIGHT_CLASSES
    weigher: str
    setting: Setting

    def words(self) -> Words:
        return Words(
            "nova-scheduler does not start: it can't load a weigher "
            f"{quoted(self.weigher)} ({self.setting.source})",
            "take it out, or write the whole path of its class",
        )


def weigher_unknown(analysis: Analysis) -> Iterator[ConfigWeigherUnknown]:
    setting = analysis.setting(options.WEIGHT_CLASSES)
    for name in ranking.not_loadable(analysis.survey.assumptions):
        yield ConfigWeigherUnknown(name, setting)


@dataclasses.dataclass(frozen=True)
class ConfigNoComputeFilter(Finding):
    """A list of host filters that lets hosts pass whose nova-compute is down.

    Servers can land on hosts whose nova-compute is down, and fail there.
    """

    rule = "config-no-compute-filter"
    severity = Severity.WARNING
    kind = SubjectKind.OPTION
    name = options.ENABLED_FILTERS
    setting: Setting

    def words(self) -> Words:
        return Words(
            f"the list has no ComputeFilter ({self.setting.source}): servers can go to "
            "a host whose nova-compute is down, and fail there",
            "add ComputeFilter to the list",
        )


def no_compute_filter(analysis: Analysis) -> Iterator[ConfigNoComputeFilter]:
    setting = analysis.setting(options.ENABLED_FILTERS)
    # With brackets or quotes it is another finding.
    is_named = "ComputeFilter" in str(setting.value)
    if setting.given and not is_named:
        yield ConfigNoComputeFilter(setting)


@dataclasses.dataclass(frozen=True)
class ConfigNoEffect(Finding):
    """A line of nova.conf, or of a deployment's file, that Nova does not read.

    A warning; a note if the option is also set where Nova reads it. oslo.config ignores
    unknown and misplaced options without a message.

    :ivar name: as written
    """

    rule = "config-no-effect"
    kind = SubjectKind.OPTION
    severity: Severity
    name: str
    line: NoEffect

    def words(self) -> Words:
        reason = self.line.reason or "Nova does not read this line"
        return Words(f"no effect: {reason} ({self.line.source})", self.line.fix)


@dataclasses.dataclass(frozen=True)
class ConfigNotRead(Finding):
    """A line of a file that may set an option, and that is not read here.

    A warning, unless another line sets the option. Answers treat it as unknown.

    :ivar name: as written
    """

    rule = "config-not-read"
    severity = Severity.WARNING
    kind = SubjectKind.OPTION
    name: str
    line: NoEffect

    def words(self) -> Words:
        where = f"{self.line.reason} ({self.line.source})"
        return Words(f"seen, not read: {where}", self.line.fix)


def no_effect(analysis: Analysis) -> Iterator[ConfigNoEffect]:
    for line in analysis.survey.assumptions.no_effect:
        if not line.is_unread:
            is_set = line.meant is not None and analysis.setting(line.meant).given
            severity = Severity.NOTE if is_set else Severity.WARNING
            yield ConfigNoEffect(severity, line.name, line)


def not_read(analysis: Analysis) -> Iterator[ConfigNotRead]:
    for line in analysis.survey.assumptions.no_effect:
        is_set = line.meant is not None and analysis.setting(line.meant).given
        if line.is_unread and not is_set:
            yield ConfigNotRead(line.name, line)


@dataclasses.dataclass(frozen=True)
class ConfigReaderOff(Finding):
    """A set option that only disabled filters or weighers read.

    Skipped if filters or weighers of your own are loaded: they may read any option.

    :ivar readers: filters and weighers that read the option
    """

    rule = "config-reader-off"
    severity = Severity.NOTE
    kind = SubjectKind.OPTION
    name: str
    readers: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        return Words(
            f"no effect ({self.setting.source}): {' and '.join(self.readers)} "
            f"{'is' if len(self.readers) == 1 else 'are'} off",
            "take it out, or enable what reads it",
        )


#: Options that more than filters read: nova-api, and MetricsWeigher.
_READ_ELSEWHERE = (options.DEFAULT_HOST_ZONE, options.METRICS)


def reader_off(analysis: Analysis) -> Iterator[ConfigReaderOff]:
    settings = analysis.survey.assumptions
    if (
        not settings.is_known(options.ENABLED_FILTERS)
        or table.has_own(settings)
        or ranking.has_own(settings)
    ):
        return
    on = {*analysis.filtering.names, *(each.name for each in _enabled(analysis))}
    readers: dict[str, list[str]] = {}
    for reader in table.FILTERS.values():
        for name in reader.options if reader.is_in(settings.release) else ():
            readers.setdefault(name, []).append(reader.name)
    for weigher in ranking.WEIGHERS.values():
        readers.setdefault(weigher.option, []).append(weigher.name)
    for name, names in readers.items():
        setting = settings.setting(name)
        if setting.given and not on & {*names} and name not in _READ_ELSEWHERE:
            yield ConfigReaderOff(name, tuple(names), setting)


@dataclasses.dataclass(frozen=True)
class ConfigMaxResults(Finding):
    """A limit for Placement's answer that is below the number of hosts.

    A warning if the option was supplied, else a note. nova-scheduler never sees the
    other hosts. A request fails if host filters reject all that it sees.

    :ivar limit: maximum number of candidates
    """

    rule = "config-max-results"
    pedantic = True
    kind = SubjectKind.OPTION
    name = options.MAX_RESULTS
    severity: Severity
    limit: int
    total: int
    setting: Setting

    def words(self) -> Words:
        return Words(
            f"nova-scheduler sees at most {self.limit} of {self.total} hosts "
            f"({self.setting.source}). A request fails if filters reject all of these",
            f"set {option(self.name)} to {self.total} or more",
        )


def max_results(analysis: Analysis) -> Iterator[ConfigMaxResults]:
    """nova/scheduler/client/report.py, ``get_allocation_candidates``."""
    setting = analysis.setting(options.MAX_RESULTS)
    limit, total = setting.value, len(analysis.all_hosts)
    if isinstance(limit, int) and total > limit:
        severity = Severity.WARNING if setting.given else Severity.NOTE
        yield ConfigMaxResults(severity, limit, total, setting)


@dataclasses.dataclass(frozen=True)
class ConfigProjectRequired(Finding):
    """An option without effect that requires an aggregate for each project.

    Nova reads ``placement_aggregate_required_for_tenants`` only if
    ``limit_tenants_to_placement_aggregate`` is on.
    """

    rule = "config-project-required"
    severity = Severity.WARNING
    kind = SubjectKind.OPTION
    name = options.TENANT_REQUIRED
    setting: Setting

    def words(self) -> Words:
        return Words(
            f"on ({self.setting.source}), and without effect as long as "
            f"{option(options.TENANT)} is off",
            enable("projects-required", self.setting),
        )


def project_required(analysis: Analysis) -> Iterator[ConfigProjectRequired]:
    """nova/scheduler/request_filter.py, ``require_tenant_aggregate``, returns early."""
    setting = analysis.setting(options.TENANT_REQUIRED)
    if setting.value and not analysis.is_on(options.TENANT):
        yield ConfigProjectRequired(setting)


@dataclasses.dataclass(frozen=True)
class ConfigImageMetadataOff(Finding):
    """Devices of images that not all hosts have, and that Nova does not check.

    An error if the option was supplied, else a warning. Servers can land on hosts whose
    nova-compute can't create their devices. The option exists from Ussuri on.

    :ivar traits: of the devices
    """

    rule = "config-image-metadata-off"
    kind = SubjectKind.OPTION
    name = options.IMAGE_METADATA
    severity: Severity
    traits: tuple[str, ...]
    images: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        return Words(
            f"{off_by(self.setting)}, and not every host has "
            f"{', '.join(self.traits)}: servers of the "
            f"{listed(self.images, 'image')} can land where their devices can't "
            "be made",
            enable("image-metadata", self.setting),
        )


def image_metadata_off(analysis: Analysis) -> Iterator[ConfigImageMetadataOff]:
    """nova/scheduler/request_filter.py, ``transform_image_metadata``."""
    setting = analysis.setting(options.IMAGE_METADATA)
    exists = (
        analysis.survey.assumptions.release
        >= options.OPTIONS[options.IMAGE_METADATA].since
    )
    if setting.value or not exists or not analysis.all_hosts:
        return
    partial = {
        name: images
        for name, images in sorted(_images_by_device(analysis).items())
        if analysis.hosts.meeting([RootTrait(name, False, ())]) != analysis.all_hosts
    }
    if partial:
        images = set[str]().union(*partial.values())
        severity = Severity.ERROR if setting.given else Severity.WARNING
        yield ConfigImageMetadataOff(
            severity, tuple(partial), tuple(sorted(images)), setting
        )


def _images_by_device(analysis: Analysis) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for image in analysis.images:
        for clause in image.devices:
            known = clause.name in analysis.survey.known_traits
            if known and not _is_filtered(clause):
                found.setdefault(clause.name, []).append(image.name)
    return found


def _is_filtered(clause: RootTrait) -> bool:
    return any(origin.key in _FILTERED for origin in clause.origins)


@dataclasses.dataclass(frozen=True)
class ConfigImageMetadataNoTrait(Finding):
    """An image property without a trait, which disables the prefilter for the image.

    The prefilter then ignores all properties of the image, and only logs that.
    """

    rule = "config-image-metadata-no-trait"
    severity = Severity.WARNING
    kind = SubjectKind.IMAGE
    name: str
    key: str
    value: str
    id: str

    def words(self) -> Words:
        return Words(
            f"no trait stands for {self.key}={self.value}, so that "
            "image_metadata_prefilter looks at none of the image's properties",
            openstack("image unset", Option("--property", self.key), self.id),
        )


def image_metadata_no_trait(analysis: Analysis) -> Iterator[ConfigImageMetadataNoTrait]:
    """nova/scheduler/request_filter.py, ``transform_image_metadata``."""
    if not analysis.is_on(options.IMAGE_METADATA):
        return
    for image in analysis.images:
        for each in image.not_evaluated:
            if each.kind == server.IMAGE_METADATA:
                yield ConfigImageMetadataNoTrait(
                    image.name, each.key, each.value, image.id
                )


# Rules of the area weighers: aggregates' multipliers.


_MULTIPLIER = "weight_multiplier"


class Cause(enum.Enum):
    """Why a multiplier has no effect."""

    #: Its weigher is not enabled.
    OFF = "off"
    #: The release has no such weigher.
    RELEASE = "release"
    #: Its weigher needs an option, too.
    OPTION = "option"
    #: No weigher of Nova's has such a multiplier.
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class WeighersKeyOff(Finding):
    """A multiplier of an aggregate that no weigher reads.

    A warning if the weighers were supplied, else a note. The weigher is off, or the
    release lacks it. Weighers of your own may read any key, so they silence the rule.

    :ivar weigher: the weigher of Nova's for it; empty for none
    :ivar setting: the list of weighers, or the option that decides
    :ivar nearest: the multiplier most like an unknown one, if any
    """

    rule = "weighers-key-off"
    kind = SubjectKind.AGGREGATE
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
        return Words(
            f"{self.key}={self.value} has no effect: {_why(self)}",
            unset(SubjectKind.AGGREGATE, [self.key], str(self.id)),
        )


def key_off(analysis: Analysis) -> Iterator[WeighersKeyOff]:
    settings = analysis.survey.assumptions
    by_key = {each.aggregate_key: each for each in ranking.WEIGHERS.values()}
    enabled = {each.name for each in _enabled(analysis)}
    read = [key for key, each in by_key.items() if each.is_in(settings.release)]
    for aggregate, key, value in analysis.filtering.metadata:
        if not key.endswith(_MULTIPLIER):
            continue
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
    """Why a multiplier has no effect; None if it has, or may have."""
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
    """Nova's enabled weighers; none if nova-scheduler does not start."""
    settings = analysis.survey.assumptions
    return () if ranking.not_loadable(settings) else ranking.enabled(settings)[0]


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


RULES = (
    Rule(ConfigIgnored, ignored, SubjectKind.OPTION),
    Rule(ConfigFilterGone, filter_gone, SubjectKind.OPTION),
    Rule(ConfigFilterUnknown, filter_unknown, SubjectKind.OPTION),
    Rule(ConfigWeigherUnknown, weigher_unknown, SubjectKind.OPTION),
    Rule(ConfigNoComputeFilter, no_compute_filter, SubjectKind.OPTION),
    Rule(ConfigNoEffect, no_effect, SubjectKind.OPTION),
    Rule(ConfigNotRead, not_read, SubjectKind.OPTION),
    Rule(ConfigReaderOff, reader_off, SubjectKind.OPTION),
    Rule(ConfigMaxResults, max_results, SubjectKind.HOST),
    Rule(ConfigProjectRequired, project_required, SubjectKind.OPTION),
    Rule(ConfigImageMetadataOff, image_metadata_off, SubjectKind.IMAGE),
    Rule(ConfigImageMetadataNoTrait, image_metadata_no_trait, SubjectKind.IMAGE),
    Rule(WeighersKeyOff, key_off, SubjectKind.AGGREGATE),
)
