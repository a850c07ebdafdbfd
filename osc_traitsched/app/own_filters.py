"""Judges hosts with one's own filters and weighers, without nova-scheduler."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.app import request
from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import file
from osc_traitsched.config.nova_conf import files_of
from osc_traitsched.core.inventory import snapshot
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec, host_states
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.options import Consumer, Value
from osc_traitsched.core.nova.own import (
    NovaPythonFails,
    OwnAnswers,
    PluginJudgment,
    PluginName,
)
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.weigher.ranking import enabled
from osc_traitsched.runner import document, process
from osc_traitsched.runner.process import TIMEOUT


@dataclasses.dataclass(frozen=True)
class Trial:
    """The hosts of a cloud, and what a plugin says of each.

    :ivar hosts: all that Nova lists, by name
    """

    hosts: tuple[HostState, ...]
    judgment: PluginJudgment


@dataclasses.dataclass(frozen=True)
class OwnSources:
    """A Python that has Nova in it, and what is to run there beside our own answers.

    What the scheduler's settings name that is none of Nova's runs there, too.

    :ivar nova_python: what is started, as ``process.ask`` takes it
    :ivar plugins: filters and weighers, as :class:`PluginName` reads them
    :ivar nova_conf: paths of this machine; if there are none, the other Python reads
        the nova.conf that its Nova would
    :ivar timeout: seconds
    :ivar with_nova: the filters that are on run there as well, Nova's own
    """

    nova_python: str
    plugins: tuple[str, ...] = ()
    nova_conf: tuple[str, ...] = ()
    timeout: float = TIMEOUT
    with_nova: bool = False


def answered(
    question: Question, nodes: Iterable[Compute], own: OwnSources | None
) -> Question:
    """A question with what filters and weighers say that run in Nova.

    Where no filter runs nothing is asked.

    :raises BadConfiguration: for a file that can't be read
    :raises PluginFails: for a plugin that Nova could not load either
    :raises NovaPythonFails: when that Python can't be asked
    :raises Refusal: when nova-scheduler does not start with these settings
    """
    if own is None or question.is_forced:
        return question
    settings = question.assumptions
    plugins = list(_plugins(settings, own))
    if not plugins:
        return question
    spec = question.request_spec()
    hosts = host_states(nodes, question.aggregates, question.servers)
    asked = document.question(
        hosts,
        spec,
        [(n, None if n.file is None else file.read(n.file)) for n in plugins],
        _files(own.nova_conf) if own.nova_conf else None,
        read.host_aggregates(question.aggregates),
        _options(settings),
        all_lines=False,
    )
    answer = process.ask(own.nova_python, asked, own.timeout)
    runs = document.runs(answer, own.nova_python)
    if own.with_nova:
        _check_release(answer["nova"], settings, own.nova_python)
    novas = {each.text for each in plugins if each.is_novas}
    found = OwnAnswers.read(spec, settings, hosts, runs, novas, answer["nova"])
    return dataclasses.replace(question, own=found)


def _check_release(version: str, settings: SchedulerSettings, command: str) -> None:
    """Accept only a Nova whose own filters are those of the cloud.

    :raises NovaPythonFails: for one of another release
    """
    release = str(settings.release)
    if version.partition(".")[0] != release:
        reason = f"{version}, and the cloud's is {release} ({settings.release_source})"
        raise NovaPythonFails(command, "other-release", reason)


def _plugins(settings: SchedulerSettings, own: OwnSources) -> Iterator[PluginName]:
    """Yield what is to run; a class that the user names, in place of the settings'."""
    yield from map(PluginName.read, own.plugins)
    for name in table.enabled(settings):
        if name not in FILTERS:
            yield PluginName(name, None, name, "filter")
        elif own.with_nova:
            yield PluginName(name, None, name, "filter", is_novas=True)
    for name in enabled(settings)[1]:
        yield PluginName(name, None, name, "weigher")


def _options(settings: SchedulerSettings) -> dict[str, str]:
    """What is known of the options that filters and weighers read, as text."""
    return {
        option.name: _written(setting.value)
        for option in options.options_in(settings.release)
        if option.consumer in (Consumer.FILTER, Consumer.WEIGHER)
        and (setting := settings.setting(option.name)).given
        and setting.value is not None
    }


def _written(value: Value) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def judge(
    hosts: Sequence[HostState],
    spec: RequestSpec,
    plugins: Iterable[str],
    nova_python: str,
    nova_conf: Sequence[str] = (),
    timeout: float = TIMEOUT,
    aggregates: Iterable[snapshot.Aggregate] = (),
) -> PluginJudgment:
    """Run filters and weighers in a Python that has Nova in it.

    Filters judge each host by itself, and weighers all of them together.

    :param plugins: as :class:`PluginName` reads them; files are of this machine, and
        modules are the other Python's
    :param nova_python: what is started, as ``process.ask`` takes it
    :param nova_conf: paths of this machine; if there are none, the other Python reads
        the nova.conf that its Nova would
    :param timeout: seconds
    :param aggregates: for the IDs and the hosts of aggregates, which filters see then
    :raises BadConfiguration: for a file that can't be read
    :raises PluginFails: for a plugin that Nova could not load either
    :raises NovaPythonFails: when that Python can't be asked
    """
    names = [PluginName.read(text) for text in plugins]
    asked = document.question(
        hosts,
        spec,
        [(n, None if n.file is None else file.read(n.file)) for n in names],
        _files(nova_conf) if nova_conf else None,
        aggregates,
    )
    return document.judgment(process.ask(nova_python, asked, timeout), nova_python)


def _files(paths: Iterable[str]) -> list[tuple[str, str]]:
    found = (each for path in paths for each in files_of(path))
    return [(path, file.read(path)) for path in found]


def try_plugin(
    cloud: Cloud,
    question: Question,
    plugin: str,
    nova_python: str,
    nova_conf: Sequence[str] = (),
    timeout: float = TIMEOUT,
) -> Trial:
    """What a filter or weigher says of all hosts of a cloud for one request.

    :raises Refusal: when Nova refuses the server
    :raises NotForProject: for a flavor or an image that the project may not use
    :raises BadConfiguration, PluginFails, NovaPythonFails: as :func:`judge`
    """
    request.accepted(cloud, question)
    nodes = sorted(lookup.computes(cloud), key=lambda each: each.node)
    hosts = host_states(nodes, question.aggregates, question.servers)
    spec = question.request_spec()
    aggregates = read.host_aggregates(question.aggregates)
    found = judge(hosts, spec, [plugin], nova_python, nova_conf, timeout, aggregates)
    return Trial(hosts, found)
