"""Judges hosts with the operator's own filters and weighers."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, NamedTuple, TypeVar

from osc_traitsched.app import request
from osc_traitsched.cloud import lookup
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import document as file
from osc_traitsched.config.nova_conf import files_of
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute, NodeReport
from osc_traitsched.core.judge.filtering import on_hosts
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.compute import needs_claim
from osc_traitsched.core.nova.filter.state import (
    Fails,
    FilterResult,
    HostState,
    RequestSpec,
    Unknown,
    host_states,
)
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.options import (
    Consumer,
    Option,
    OptionType,
    SchedulerSettings,
    Value,
)
from osc_traitsched.core.nova.own import (
    NovaPythonFails,
    OwnAnswers,
    PluginFails,
    PluginJudgment,
    PluginName,
)
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.nova.weighers import enabled
from osc_traitsched.runner import document
from osc_traitsched.runner.document import TIMEOUT, HostClaim
from osc_traitsched.text import count, listed


@dataclasses.dataclass(frozen=True)
class PluginTrial:
    """The hosts that Nova lists, by name, and a plugin's judgment of each."""

    hosts: tuple[HostState, ...]
    judgment: PluginJudgment


@dataclasses.dataclass(frozen=True)
class OwnSources:
    """A Python that has Nova, and the plugins to run there.

    Classes in the scheduler's settings that are not Nova's run there, too.

    :ivar nova_python: command, as ``process.ask`` takes it
    :ivar plugins: filters and weighers, as :class:`PluginName` reads them
    :ivar nova_conf: local paths; if empty, that Python reads its Nova's own nova.conf
    :ivar timeout: seconds
    :ivar with_nova: Nova's own enabled filters run there, too
    :ivar service: as which Nova reads its own nova.conf and the hosts in its database;
        then those of Nova's filters run that need them; empty for none
    :ivar facts: records of the hosts, by node UUID, that a snapshot has instead
    :ivar warn: told why that Python does not answer, which leaves hosts unknown then
    """

    nova_python: str
    plugins: tuple[str, ...] = ()
    nova_conf: tuple[str, ...] = ()
    timeout: float = TIMEOUT
    with_nova: bool = False
    service: str = ""
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    warn: Callable[[str], None] | None = None


def answered(
    question: Question, nodes: Iterable[Compute], own: OwnSources | None
) -> Question:
    """The question with the answers of filters and weighers that run in Nova, if any.

    :raises BadConfiguration: for a file that can't be read
    :raises PluginFails: for a plugin that Nova could not load either
    :raises NovaPythonFails: if that Python does not answer
    :raises Refusal: if nova-scheduler does not start with these settings
    """
    if own is None or question.is_forced:
        return question
    settings = question.assumptions
    spec = question.request_spec()
    hosts = host_states(nodes, question.aggregates, question.servers)
    if own.service or own.facts:
        settings = dataclasses.replace(settings, claims=None)
    plugins = list(_plugins(settings, own))
    if own.service or own.facts:
        with contextlib.suppress(Refusal):
            plugins += _unsure(question, hosts)
    if not plugins:
        return question
    asked = document.question(
        hosts,
        spec,
        [(n, None if n.file is None else file.read_text(n.file)) for n in plugins],
        _files(own.nova_conf) if own.nova_conf else None,
        _options(settings),
        all_lines=False,
    )
    answer = _answer(own, asked, hosts, settings, document.runs)
    if answer is None:
        return question
    body, runs = answer
    novas = {each.text for each in plugins if each.is_novas}
    found = OwnAnswers.read(spec, settings, hosts, runs, novas, body["nova"])
    return dataclasses.replace(question, own=found)


_T = TypeVar("_T")


def _answer(
    own: OwnSources,
    asked: Body,
    hosts: Iterable[HostState],
    settings: SchedulerSettings,
    read: Callable[[Body, str], _T],
) -> tuple[Body, _T] | None:
    """What that Python answers, and what is read of it; None if it was warned of.

    :raises NovaPythonFails, PluginFails: if nothing warns
    """
    uuids = {each.compute.uuid for each in hosts} & own.facts.keys()
    facts = {uuid: own.facts[uuid] for uuid in uuids}
    asked = {**asked, "service": own.service, "facts": facts}
    try:
        body = document.ask(own.nova_python, asked, own.timeout)
        found = read(body, own.nova_python)
        if own.with_nova or own.service or own.facts:
            _check_release(body["nova"], settings, own)
    except (NovaPythonFails, PluginFails) as exc:
        _warn(own, exc)
        return None
    return body, found


def _warn(own: OwnSources, problem: Exception) -> None:
    """Warn of a Python that does not answer; raise the problem if nothing warns."""
    if own.warn is None:
        raise problem
    own.warn(f"{problem}. What only Nova's database shows is unknown.")


class Told(NamedTuple):
    """What a host reported when Nova was asked, and can claim: now, and if empty."""

    report: NodeReport | None
    now: HostClaim
    emptied: HostClaim


class NovaClaims:
    """Answers of Nova to what hosts can claim, from its database or a snapshot."""

    def __init__(self, own: OwnSources) -> None:
        self._own: OwnSources | None = own
        self._told: dict[str, dict[str, Told]] = {}
        self._requests: dict[str, Body] = {}
        self.counts: dict[str, tuple[int, int, int]] = {}

    @functools.cached_property
    def emptied(self) -> EmptiedClaims:
        """What hosts can't claim even if they are empty."""
        return EmptiedClaims(self)

    def of_records(self, records: Mapping[str, Any]) -> NovaClaims | None:
        """The same for other records of the hosts; None without any."""
        if self._own is None or not records:
            return None
        return NovaClaims(
            dataclasses.replace(self._own, service="", facts=records, warn=None)
        )

    def answers(
        self,
        name: str,
        hosts: Collection[HostState],
        spec: RequestSpec,
        settings: SchedulerSettings,
    ) -> Mapping[str, FilterResult]:
        """What a filter says of hosts, by node UUID; those that it knows.

        :raises NovaPythonFails: if that Python does not answer
        """
        self.ask([(spec, settings)], hosts, spec.num_instances)
        told, found = self.told(spec, settings), {}
        for host in hosts:
            each = told.get(host.compute.uuid, _NOT_ASKED)
            if _is_read(host) and each.report == host.compute.report:
                found[host.compute.uuid] = each.now.answers.get(name)
        return {uuid: answer for uuid, answer in found.items() if answer is not None}

    def rooms(
        self, spec: RequestSpec, settings: SchedulerSettings
    ) -> Mapping[str, tuple[int | None, int | None]]:
        """How many such servers fit on each host: at least, at most."""
        told = self.told(spec, settings)
        return _rooms({uuid: each.now for uuid, each in told.items()}, settings)

    def told(
        self, spec: RequestSpec, settings: SchedulerSettings
    ) -> Mapping[str, Told]:
        """What Nova told of hosts for a request, by node UUID."""
        return self._told.get(_key(spec, settings), {}) if needs_claim(spec) else {}

    def ask(
        self,
        requests: Iterable[tuple[RequestSpec, SchedulerSettings]],
        hosts: Iterable[HostState],
        most: int = 1,
    ) -> None:
        """Ask for all these requests at once, if they claim and were not asked for.

        :param most: how many servers of a request are tried on a host
        :raises NovaPythonFails: as :meth:`answers`
        """
        there = [host for host in hosts if _is_read(host)]
        several: dict[str, dict[str, RequestSpec]] = {}
        of_options = {}
        for spec, settings in requests:
            key = _key(spec, settings) if needs_claim(spec) else ""
            if key and not all(self._has(key, host) for host in there):
                pci = repr(_pci_options(settings))
                several.setdefault(pci, {})[key] = spec
                of_options[pci] = settings
        for pci, specs in several.items():
            self._ask(specs, there, of_options[pci], most)

    def requests(self, servers: Collection[str]) -> Mapping[str, Body]:
        """Nova's records of the requests of servers, by UUID; each is read once.

        :raises NovaPythonFails: as :meth:`answers`
        """
        own, new = self._own, [e for e in servers if e not in self._requests]
        if own is not None and own.service and new:
            try:
                answer = requests(own, new)
            except NovaPythonFails as exc:
                _warn(own, exc)
                self._own = None
                return self._requests
            found = answer["requests"]
            self._requests.update((server, found.get(server, {})) for server in new)
            gone = len({*new} - found.keys() - answer["unread"].keys())
            if gone and own.warn:
                own.warn(
                    f"Nova has no record of the request of {count(gone, 'server')}"
                )
        return self._requests

    def _has(self, key: str, host: HostState) -> bool:
        told = self._told.get(key, {}).get(host.compute.uuid)
        return told is not None and told.report == host.compute.report

    def _ask(
        self,
        specs: Mapping[str, RequestSpec],
        hosts: Sequence[HostState],
        settings: SchedulerSettings,
        most: int,
    ) -> None:
        own = self._own
        if own is None:
            return
        names = [name for name, row in FILTERS.items() if row.is_claimed]
        novas = [
            PluginName(name, None, name, "filter", is_novas=True) for name in names
        ]
        texts = map(document.claim, specs.values())
        asked = document.claims(*(hosts, texts, novas, _pci_options(settings), most))
        answer = _answer(own, asked, hosts, settings, document.claimed)
        if answer is None:
            self._own = None
            return
        body, found = answer
        self.counts.update((uuid, (*each,)) for uuid, each in body["hosts"].items())
        for key, (now, emptied) in zip(specs, found):
            told = self._told.setdefault(key, {})
            for uuid, report in ((e.compute.uuid, e.compute.report) for e in hosts):
                claims = (each.get(uuid, _NO_CLAIM) for each in (now, emptied))
                told[uuid] = Told(report, *claims)


class EmptiedClaims:
    """What hosts can't claim even if they are empty; :class:`NovaClaims` has asked.

    Only a no is told: a host with fewer servers may have no room yet.
    """

    def __init__(self, claims: NovaClaims) -> None:
        self._claims = claims
        self.counts = claims.counts
        self.ask, self.requests = claims.ask, claims.requests
        self.of_records = claims.of_records

    @property
    def emptied(self) -> EmptiedClaims:
        """The same."""
        return self

    def answers(
        self,
        name: str,
        hosts: Collection[HostState],
        spec: RequestSpec,
        settings: SchedulerSettings,
    ) -> Mapping[str, FilterResult]:
        """As of :class:`NovaClaims`."""
        self.ask([(spec, settings)], hosts, spec.num_instances)
        told, found = self._claims.told(spec, settings), {}
        for uuid in (host.compute.uuid for host in hosts):
            answer = told.get(uuid, _NOT_ASKED).emptied.answers.get(name)
            if isinstance(answer, Fails):
                found[uuid] = answer
        return found

    def rooms(
        self, spec: RequestSpec, settings: SchedulerSettings
    ) -> Mapping[str, tuple[int | None, int | None]]:
        """As of :class:`NovaClaims`."""
        told = self._claims.told(spec, settings)
        return _rooms({uuid: each.emptied for uuid, each in told.items()}, settings)


def _rooms(
    claims: Mapping[str, HostClaim], settings: SchedulerSettings
) -> Mapping[str, tuple[int | None, int | None]]:
    limits = table.has_cell_limits(settings)
    known = ((uuid, claim) for uuid, claim in claims.items() if claim.answers)
    return {uuid: claim.room_for(limits) for uuid, claim in known}


#: Nova's records of requests are read of so many servers at once, within its time.
MOST_RECORDS = 1000

_NO_CLAIM = HostClaim({}, (None, None), (None, None))
_NOT_ASKED = Told(None, _NO_CLAIM, _NO_CLAIM)


def _is_read(host: HostState) -> bool:
    """Whether the host is as Nova has it."""
    report = host.compute.report
    return report is not None and report.is_read


def _key(spec: RequestSpec, settings: SchedulerSettings) -> str:
    return json.dumps([document.claim(spec), _pci_options(settings)], sort_keys=True)


def _pci_options(settings: SchedulerSettings) -> dict[str, Any]:
    every, name = _options(settings), options.PCI_IN_PLACEMENT
    if settings.is_known(name):
        every[name] = str(settings.value(name))
    names = (options.PCI_ALIAS, name)
    return {name: every[name] for name in names if name in every}


def requests(
    own: OwnSources, servers: Iterable[str], with_hosts: bool = False
) -> Mapping[str, Any]:
    """Nova's ``requests`` of servers, by UUID; with the records of all ``hosts``.

    ``unread`` are those that can't be read whole, which is warned of.

    :raises NovaPythonFails: if that Python does not answer
    """
    command, service = own.nova_python, own.service
    found = document.records(command, service, servers, with_hosts, own.timeout)
    if found["unread"] and own.warn:
        own.warn(
            f"Nova's record of the request of {count(len(found['unread']), 'server')} "
            f"can't be read ({listed(sorted(set(found['unread'].values())))})"
        )
    return found


def _check_release(version: str, settings: SchedulerSettings, own: OwnSources) -> None:
    release = str(settings.release)
    if version.partition(".")[0] != release:
        kind = "upgraded" if own.service else "other-release"
        reason = f"{version}, and the cloud's is {release} ({settings.release_source})"
        raise NovaPythonFails(own.nova_python, kind, reason)


def _plugins(settings: SchedulerSettings, own: OwnSources) -> Iterator[PluginName]:
    """The user's first, then those of the settings."""
    yield from map(PluginName.read, own.plugins)
    for name in table.enabled(settings):
        if name not in FILTERS:
            yield PluginName(name, None, name, "filter")
        elif own.with_nova:
            yield PluginName(name, None, name, "filter", is_novas=True)
    for name in enabled(settings)[1]:
        yield PluginName(name, None, name, "weigher")


def _unsure(question: Question, hosts: Sequence[HostState]) -> Iterator[PluginName]:
    """Nova's filters that read what no API shows; :class:`NovaClaims` has others."""
    settings = dataclasses.replace(question.assumptions, claims=None)
    question = dataclasses.replace(question, assumptions=settings)
    found = on_hosts(question, hosts, question.request_spec()).judgment
    for name, answers in found.answers.items():
        is_open = any(isinstance(each, Unknown) for each in answers.values())
        if is_open and name in FILTERS and not FILTERS[name].is_claimed:
            yield PluginName(name, None, name, "filter", is_novas=True)


def _options(settings: SchedulerSettings) -> dict[str, Any]:
    return {
        option.name: _written(option, setting.value)
        for option in options.options_in(settings.release)
        if (
            (
                option.consumer in (Consumer.FILTER, Consumer.WEIGHER)
                and option.kind is not OptionType.MULTI
            )
            or option.name == options.PCI_ALIAS
        )
        and (setting := settings.setting(option.name)).given
        and setting.value is not None
    }


def _written(option: Option, value: Value) -> str | list[str]:
    if option.kind is OptionType.MULTI and isinstance(value, tuple):
        return list(value)
    return ",".join(value) if isinstance(value, tuple) else str(value)


def judge(
    hosts: Sequence[HostState],
    spec: RequestSpec,
    plugins: Iterable[str],
    nova_python: str,
    nova_conf: Sequence[str] = (),
    timeout: float = TIMEOUT,
) -> PluginJudgment:
    """Run filters and weighers in a Python that has Nova.

    Filters judge each host by itself, weighers all of them together. Parameters are as
    in :class:`OwnSources`; files are local, modules are the other Python's.

    :raises BadConfiguration: for a file that can't be read
    :raises PluginFails: for a plugin that Nova could not load either
    :raises NovaPythonFails: if that Python does not answer
    """
    names = [PluginName.read(text) for text in plugins]
    asked = document.question(
        hosts,
        spec,
        [(n, None if n.file is None else file.read_text(n.file)) for n in names],
        _files(nova_conf) if nova_conf else None,
    )
    return document.judgment(document.ask(nova_python, asked, timeout), nova_python)


def _files(paths: Iterable[str]) -> list[tuple[str, str]]:
    found = (each for path in paths for each in files_of(path))
    return [(path, file.read_text(path)) for path in found]


def try_plugin(
    cloud: Cloud,
    question: Question,
    plugin: str,
    nova_python: str,
    nova_conf: Sequence[str] = (),
    timeout: float = TIMEOUT,
) -> PluginTrial:
    """A filter's or weigher's judgment of all hosts for one request.

    :raises Refusal: if Nova rejects the server
    :raises NotForProject: for a flavor or an image that the project may not use
    :raises BadConfiguration, PluginFails, NovaPythonFails: as :func:`judge`
    """
    request.accepted(cloud, question)
    nodes = sorted(lookup.computes(cloud), key=lambda each: each.node)
    hosts = host_states(nodes, question.aggregates, question.servers)
    spec = question.request_spec()
    found = judge(hosts, spec, [plugin], nova_python, nova_conf, timeout)
    return PluginTrial(hosts, found)
