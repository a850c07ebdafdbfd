"""The settings of nova-scheduler: read, saved, and where they are looked for."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import itertools
import os
import re
import socket
import stat
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import deployments, document, saved
from osc_traitsched.config.saved import Places
from osc_traitsched.config.sources import (
    NOVA,
    NOVA_CONF,
    NOVA_RELEASE,
    resolve,
)
from osc_traitsched.config.sources import SettingsSources as SettingsSources
from osc_traitsched.core import releases
from osc_traitsched.core.answer import Diagnosis, NovaPython, NovaReading
from osc_traitsched.core.errors import (
    AnswerIsNo,
    BadConfiguration,
    CloudBroke,
    TraitSchedError,
)
from osc_traitsched.core.nova.options import (
    ENABLED_FILTERS,
    OPTIONS,
    OptionType,
    SchedulerSettings,
    Service,
    options_in,
)
from osc_traitsched.runner import document as runner
from osc_traitsched.runner import nova_runner

# The scheduler's settings: read with the cloud, and saved.


# Settings from files, options and the cloud.


#: The trait that marks the providers of a nova-compute of 2026.2 or later.
OWNER_MARK = "OWNER_NOVA"


def of_cloud(cloud: Cloud, sources: SettingsSources) -> SchedulerSettings:
    """Settings from the sources and the cloud; raises BadConfiguration."""
    assumed = resolve(sources, cloud.compute_maximum)
    if assumed.release < releases.OWNER_NOVA_RELEASE:
        return assumed
    try:
        unmarked = read.providers_without(cloud.placement, OWNER_MARK)
    except CloudBroke as exc:
        # A Placement that does not know the trait has no provider with it.
        if exc.status == 400:
            return _with_all_new(assumed, False)
        raise
    nodes = {compute.uuid for compute in lookup.computes(cloud)}
    return with_compute_versions(assumed, nodes, unmarked)


def with_compute_versions(
    assumed: SchedulerSettings, nodes: Set[str], unmarked: Set[str]
) -> SchedulerSettings:
    """The settings, with whether every nova-compute is of 2026.2 or later.

    The scheduler of such a Nova asks that. No API shows compute versions, but a new
    nova-compute marks its providers with OWNER_NOVA (nova/compute/resource_tracker.py,
    ``_get_traits``). Unknown if only some have it: the others are old, or lost it.

    :param nodes: UUIDs of Nova's compute nodes; one without a provider does not count
    :param unmarked: UUIDs of providers without OWNER_NOVA
    """
    if assumed.release < releases.OWNER_NOVA_RELEASE:
        return assumed
    left = nodes & unmarked
    is_mixed = bool(nodes - left) and bool(left)
    return _with_all_new(assumed, None if is_mixed or not nodes else not left)


def _with_all_new(assumed: SchedulerSettings, new: bool | None) -> SchedulerSettings:
    own = assumed.without_set
    own = own and _with_all_new(own, new)
    return dataclasses.replace(assumed, all_computes_new=new, without_set=own)


# What Nova says of itself.


#: ``api=COMMAND`` names a service.
_OF_SERVICE = re.compile(r"(api|scheduler|conductor|compute)=(.*)", re.DOTALL)


def ask_nova(commands: Sequence[str], timeout: float) -> Mapping[str, Any]:
    """What services of Nova say: values of :class:`SettingsSources`, by name.

    :param commands: each starts a Python beside a service; ``api=``, ``scheduler=``,
        ``conductor=`` or ``compute=`` before it says which
    :raises NovaPythonFails: for the first that does not answer
    """
    readings = tuple(_reading(command, timeout) for command in commands)
    deciding = [each for each in readings if each.service == Service.SCHEDULER.value]
    release = _release_of((deciding or readings)[0].version)
    named = {NOVA_RELEASE.name: release} if release else {}
    return {NOVA.name: readings, **named}


#: What other commands read there later, and what may leave of it.
READ_LATER: Mapping[str, tuple[str, ...]] = {
    "compute node": tuple(sorted(nova_runner.FIELDS)),
    "request": (
        *nova_runner.REQUEST_FIELDS,
        *(f"image.{name}" for name in nova_runner.IMAGE_FIELDS),
        *(f"image.{start}*" for start in (*nova_runner.PROPERTIES, "trait:")),
        *(f"devices.{name}" for name in nova_runner.DEVICE_FIELDS),
        "resized_to",
    ),
}


def _reading(command: str, timeout: float) -> NovaReading:
    named = _OF_SERVICE.fullmatch(command)
    service, command = (f"nova-{named[1]}", named[2]) if named else ("", command)
    names = [name for name in OPTIONS if "." in name]
    as_service = service or Service.SCHEDULER.value
    found = runner.read(command, as_service, names, timeout)
    release = _release_of(found["nova"])
    options = {}
    for name, option in found["options"].items():
        value, several = option["value"], OPTIONS[name].kind is OptionType.MULTI
        is_default = release and _is_default(name, value, release)
        # Without any option it could not be told whose settings these are.
        if value is None or (is_default and name != ENABLED_FILTERS):
            continue
        texts = list(value) if several else [_text(value)]
        source = option["source"] or f"the default of Nova {found['nova']}"
        options[name] = {"value": texts, "source": source}
    now = datetime.datetime.now(datetime.timezone.utc)
    return NovaReading(
        now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        found["host"],
        command,
        service,
        found["nova"],
        found["cells"],
        options,
    )


def _release_of(version: str) -> int | None:
    major = version.partition(".")[0]
    number = int(major) if major.isdecimal() else 0
    return number if number in releases.RELEASES else None


def _is_default(name: str, value: Any, release: int) -> bool:
    default = OPTIONS[name].default_in(release)
    return (tuple(value) if isinstance(value, list) else value) == default


def _text(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


# Save the settings for later commands.


def saved_before(places: Places) -> Mapping[str, Any]:
    """What a saved document has, by name of the source, to read Nova again.

    Nova's own words are commands again. Empty if it has none, or if another place than
    the user's own document would still come first.
    """
    found = saved.find(places)
    documents = (places.own_document, places.system_document)
    if found is None or not (found.place or "").startswith(documents):
        return {}
    if not any(each.command for each in found.readings):
        return {}
    values = {source.name: value for source, value in found.named.items()}
    return {**values, NOVA.name: [each.asked for each in found.readings]}


def save(
    sources: SettingsSources, places: Places, force: bool = False, dry_run: bool = False
) -> tuple[str, bool]:
    """Write a document with these sources into the user's own folder.

    :param force: replace other settings in the file
    :return: the document, and whether the file has it already
    :raises BadConfiguration: for a bad file or value, a path that is not a file, or a
        document that can't be written
    :raises AnswerIsNo: if the file has other settings
    """
    for path in sources.paths:
        file = document.located(path)
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise BadConfiguration(path, None, "not a file: nobody could read it again")
    resolve(sources)
    path, text = places.own_document, saved.text(sources)
    exists = os.path.lexists(document.located(path))
    present = document.read_text(path) if exists else None
    is_newer = (
        exists and NOVA in sources.named and _is_of(saved.read(path, path), sources)
    )
    if present not in (None, text) and not (force or is_newer):
        raise AnswerIsNo(
            f"{path} says something else; --force replaces it, and --dry-run with "
            "--force shows by what"
        )
    if present != text and not dry_run:
        document.write(path, text)
    return text, present == text


def _is_of(present: SettingsSources | None, sources: SettingsSources) -> bool:
    """Whether the two differ at most in what the same commands read of Nova."""

    def rest(found: SettingsSources) -> Any:
        readings = found.named.get(NOVA, ())
        read = (NOVA, NOVA_RELEASE)
        others = {
            key: key.written(value)
            for key, value in found.named.items()
            if key not in read
        }
        return [(each.command, each.service) for each in readings], others

    return present is not None and rest(present) == rest(sources)


#: Keys of secrets, and values such as ``mysql://nova:password@host``.
_SECRET = re.compile(r"(.*_)?(password|secret)=.|.*=[^ ]*//[^/@ ]*:[^/@ ]+@")


def exposed(sources: SettingsSources) -> Iterator[str]:
    """Lines of named files with passwords, one a file, and what to do about them."""
    for layer in sources.layers.get(NOVA_CONF, ()):
        secrets = (
            entry
            for (_, key), entry in layer.entries.items()
            if _SECRET.match(f"{key}={entry.value}")
        )
        for entry in itertools.islice(secrets, 1):
            path = document.located(entry.path)
            is_open = bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
            yield (
                f"{entry.source} has a password{', and others can read it' * is_open}; "
                "config doctor has a command that keeps only the lines that are read"
            )


# Where nova-scheduler's settings are from, and what is unknown without them.


def diagnose(cloud: Cloud, sources: SettingsSources, places: Places) -> Diagnosis:
    """Look at this machine, and read the aggregates once.

    :raises BadConfiguration: for a bad file or value in use
    """
    assumed = resolve(sources, cloud.compute_maximum)
    place, used = sources.place or "", sources.conf_files
    unused = tuple(
        each
        for each in saved.on_machine(places)
        if not place.startswith(each.paths[0]) and not set(each.paths) & set(used)
    )
    unknown = _unknown(cloud, assumed)
    pythons = nova_pythons(cloud) if unknown else ()
    return Diagnosis(assumed, unused, unknown, pythons)


def nova_pythons(cloud: Cloud) -> tuple[NovaPython, ...]:
    """How to start a Python beside Nova, by the services that Nova lists."""
    hosts: tuple[str, ...] = ()
    with contextlib.suppress(TraitSchedError):
        hosts = read.scheduler_hosts(cloud.compute)
    return deployments.nova_pythons(hosts, socket.gethostname())


def _unknown(cloud: Cloud, assumed: SchedulerSettings) -> Mapping[str, tuple[str, ...]]:
    aggregates = read.aggregates(cloud.compute)
    unknown = {}
    for row in options_in(assumed.release):
        if not any(row.effect) or assumed.is_known(row.name):
            continue
        names = sorted(
            aggregate.name
            for aggregate in aggregates
            if row.keys and row.keys(aggregate.metadata, assumed.collation)
        )
        if names or row.keys is None:
            unknown[row.name] = tuple(names)
    return unknown
