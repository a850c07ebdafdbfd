"""Rules of the area config: the scheduler's options."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import (
    ERROR,
    NOTE,
    WARNING,
    Fault,
    Severity,
    SubjectKind,
)
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.rules.filters_values import enabled
from osc_traitsched.core.check.words import enable, off_by, unset
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import RootTrait
from osc_traitsched.core.nova.filter import special, table
from osc_traitsched.core.nova.options import NoEffect
from osc_traitsched.core.nova.server import server
from osc_traitsched.core.nova.weigher import ranking
from osc_traitsched.core.releases import release
from osc_traitsched.text import listed, option, quoted

# Options, compared with the cloud's needs.


@rule("config-ignored", SubjectKind.OPTION)
def ignored(analysis: Analysis) -> Iterator[Fault]:
    """*Note.* A set option that this release of Nova does not read.

    From 2023.2 on, for example, Nova always looks up zones in Placement, and the option
    for that is gone.
    """
    settings = analysis.survey.assumptions
    for name, source in settings.ignored:
        yield NOTE(
            name,
            f"set ({source}), and {release(settings.release)} does not look at it",
            "take it out, or name the release by --nova-release",
        )


@rule("config-filter-gone", SubjectKind.OPTION)
def filter_gone(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* An enabled host filter that this release of Nova lacks.

    nova-scheduler does not start. The finding says what replaces the filter.
    """
    number = analysis.survey.assumptions.release
    setting = analysis.setting(options.ENABLED_FILTERS)
    for name in dict.fromkeys(setting.items):
        successor = table.successor(name, number)
        if successor is not None:
            yield ERROR(
                options.ENABLED_FILTERS,
                f"{release(number)} has no {name}, and nova-scheduler does not "
                f"start ({setting.source})",
                f"take it out of the list: {successor}",
            )


@rule("config-filter-unknown", SubjectKind.OPTION)
def filter_unknown(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* An enabled host filter that nova-scheduler can't load.

    nova-scheduler does not start. The name is misspelled, has quotes or brackets, or
    ``available_filters`` does not load it.
    """
    # nova/scheduler/host_manager.py, _choose_host_filters
    settings = analysis.survey.assumptions
    source = settings.setting(options.ENABLED_FILTERS).source
    available = option(options.AVAILABLE_FILTERS)
    for name, nearest in table.not_loadable(settings).items():
        if table.successor(name, settings.release) is not None:
            continue
        if name in table.FILTERS:
            fix = f"add a line to {available}: {options.ALL_FILTERS}"
        elif nearest:
            fix = f"write {nearest[0]}"
        elif not name.isidentifier():
            fix = "write class names with commas between them, and nothing else"
        else:
            fix = f"take it out, or add the path of its class to {available}"
        yield ERROR(
            options.ENABLED_FILTERS,
            "nova-scheduler does not start: it can't load a host filter "
            f"{quoted(name)} ({source})",
            fix,
        )


@rule("config-weigher-unknown", SubjectKind.OPTION)
def weigher_unknown(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* An enabled weigher that nova-scheduler can't load.

    nova-scheduler does not start. The name is misspelled, or has no module.
    """
    source = analysis.setting(options.WEIGHT_CLASSES).source
    for name in ranking.not_loadable(analysis.survey.assumptions):
        yield ERROR(
            options.WEIGHT_CLASSES,
            "nova-scheduler does not start: it can't load a weigher "
            f"{quoted(name)} ({source})",
            "take it out, or write the whole path of its class",
        )


@rule("config-no-compute-filter", SubjectKind.OPTION)
def no_compute_filter(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A list of host filters that lets hosts pass whose nova-compute is
    down.

    Servers can land on hosts whose nova-compute is down, and fail there.
    """
    setting = analysis.setting(options.ENABLED_FILTERS)
    # With brackets or quotes it is another finding.
    is_named = special.COMPUTE in str(setting.value)
    if setting.given and not is_named:
        yield WARNING(
            options.ENABLED_FILTERS,
            f"the list has no {special.COMPUTE} ({setting.source}): servers can go to "
            "a host whose nova-compute is down, and fail there",
            f"add {special.COMPUTE} to the list",
        )


@rule("config-no-effect", SubjectKind.OPTION)
def no_effect(analysis: Analysis) -> Iterator[Fault]:
    """A line of nova.conf, or of a deployment's file, that Nova does not read.

    A warning; a note if the option is also set where Nova reads it. oslo.config ignores
    unknown and misplaced options without a message.
    """
    for line in analysis.survey.assumptions.no_effect:
        if not line.is_unread:
            yield Fault(
                Severity.NOTE if _is_set(analysis, line) else Severity.WARNING,
                line.name,
                f"no effect: {line.reason or 'Nova does not read this line'} "
                f"({line.source})",
                line.fix,
            )


@rule("config-not-read", SubjectKind.OPTION)
def not_read(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A line of a file that may set an option, and that is not read here.

    A warning, unless another line sets the option. Answers treat it as unknown.
    """
    for line in analysis.survey.assumptions.no_effect:
        if line.is_unread and not _is_set(analysis, line):
            problem = f"seen, not read: {line.reason} ({line.source})"
            yield WARNING(line.name, problem, line.fix)


@rule("config-services-differ", SubjectKind.OPTION)
def services_differ(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An option that the services of Nova read with different values.

    For example, nova-api decides by its ``pci_in_placement`` on new servers, and
    nova-conductor by its own on moves.
    """
    for name, settings in analysis.survey.assumptions.disagreements.items():
        values = (
            f"{service.value} has {','.join(each.items) or each.value} ({each.source})"
            for service, each in settings.items()
        )
        yield WARNING(name, "; ".join(values), "set the same value for both")


def _is_set(analysis: Analysis, line: NoEffect) -> bool:
    return line.meant in options.OPTIONS and analysis.setting(line.meant).given


@rule("config-reader-off", SubjectKind.OPTION)
def reader_off(analysis: Analysis) -> Iterator[Fault]:
    """*Note.* A set option that only disabled filters or weighers read.

    Skipped if custom filters or weighers are loaded: they may read any option.
    """
    settings = analysis.survey.assumptions
    if (
        not settings.is_known(options.ENABLED_FILTERS)
        or table.has_own(settings)
        or ranking.has_own(settings)
    ):
        return
    on = {*analysis.filtering.names, *enabled(analysis)}
    weighers = {each.option: each.name for each in ranking.WEIGHERS.values()}
    for row in options.OPTIONS.values():
        names = table.readers(row.name, settings.release)
        if row.name in weighers:
            names = (*names, weighers[row.name])
        setting = settings.setting(row.name)
        is_read = not names or row.is_read_elsewhere or on & {*names}
        if setting.given and not is_read:
            yield NOTE(
                row.name,
                f"no effect ({setting.source}): {' and '.join(names)} "
                f"{'is' if len(names) == 1 else 'are'} off",
                "take it out, or enable what reads it",
            )


@rule("config-max-results", SubjectKind.OPTION, SubjectKind.HOST, pedantic=True)
def max_results(analysis: Analysis) -> Iterator[Fault]:
    """A limit for Placement's answer that is below the number of hosts.

    A warning if the option was supplied, else a note. nova-scheduler never sees the
    other hosts. A request fails if host filters reject all that it sees.
    """
    # nova/scheduler/client/report.py, get_allocation_candidates
    setting = analysis.setting(options.MAX_RESULTS)
    limit, total = setting.value, len(analysis.all_hosts)
    if isinstance(limit, int) and total > limit:
        yield Fault(
            Severity.WARNING if setting.given else Severity.NOTE,
            options.MAX_RESULTS,
            f"nova-scheduler sees at most {limit} of {total} hosts ({setting.source}). "
            "A request fails if filters reject all of these",
            f"set {option(options.MAX_RESULTS)} to {total} or more",
        )


@rule("config-project-required", SubjectKind.OPTION)
def project_required(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An option without effect that requires an aggregate for each project.

    Nova reads ``placement_aggregate_required_for_tenants`` only if
    ``limit_tenants_to_placement_aggregate`` is on.
    """
    # nova/scheduler/request_filter.py, require_tenant_aggregate, returns early.
    setting = analysis.setting(options.TENANT_REQUIRED)
    if setting.value and not analysis.is_on(options.TENANT):
        yield WARNING(
            options.TENANT_REQUIRED,
            f"on ({setting.source}), and without effect as long as "
            f"{option(options.TENANT)} is off",
            enable(options.TENANT_REQUIRED, setting),
        )


@rule("config-image-metadata-off", SubjectKind.OPTION, SubjectKind.IMAGE)
def image_metadata_off(analysis: Analysis) -> Iterator[Fault]:
    """Devices of images that not all hosts have, and that Nova does not check.

    An error if the option was supplied, else a warning. Servers can land on hosts whose
    nova-compute can't create their devices. The option exists from Ussuri on.
    """
    # nova/scheduler/request_filter.py, transform_image_metadata
    setting = analysis.setting(options.IMAGE_METADATA)
    number = analysis.survey.assumptions.release
    exists = options.OPTIONS[options.IMAGE_METADATA].is_in(number)
    if setting.value or not exists or not analysis.all_hosts:
        return
    partial = {
        name: images
        for name, images in sorted(_images_by_device(analysis).items())
        if analysis.hosts.meeting([RootTrait(name, False, ())]) != analysis.all_hosts
    }
    if partial:
        images = tuple(sorted(set[str]().union(*partial.values())))
        yield Fault(
            Severity.ERROR if setting.given else Severity.WARNING,
            options.IMAGE_METADATA,
            f"{off_by(setting)}, and not every host has {', '.join(partial)}: servers "
            f"of the {listed(images, 'image')} can land where their devices can't be "
            "made",
            enable(options.IMAGE_METADATA, setting),
            images=images,
        )


#: The property that ImagePropertiesFilter reads as well, and its old name.
_FILTERED = frozenset({"hw_architecture", "architecture"})


def _images_by_device(analysis: Analysis) -> dict[str, list[str]]:
    images: dict[str, list[str]] = {}
    for image in analysis.images:
        for clause in image.devices:
            is_filtered = any(origin.key in _FILTERED for origin in clause.origins)
            if clause.name in analysis.survey.known_traits and not is_filtered:
                images.setdefault(clause.name, []).append(image.name)
    return images


@rule("config-image-metadata-no-trait", SubjectKind.IMAGE)
def image_metadata_no_trait(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An image property without a trait, which disables the prefilter for
    the image.

    The prefilter then ignores all properties of the image, and only logs that.
    """
    # nova/scheduler/request_filter.py, transform_image_metadata
    if not analysis.is_on(options.IMAGE_METADATA):
        return
    for image in analysis.images:
        for dropped in image.not_evaluated:
            if dropped.kind == server.IMAGE_METADATA:
                yield WARNING(
                    image.name,
                    f"no trait stands for {dropped.key}={dropped.value}, so that "
                    "image_metadata_prefilter looks at none of the image's properties",
                    unset(SubjectKind.IMAGE, [dropped.key], image.id),
                )


RULES = (
    ignored,
    filter_gone,
    filter_unknown,
    weigher_unknown,
    no_compute_filter,
    no_effect,
    not_read,
    services_differ,
    reader_off,
    max_results,
    project_required,
    image_metadata_off,
    image_metadata_no_trait,
)
