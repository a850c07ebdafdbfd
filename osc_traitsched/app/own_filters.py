"""Judges hosts with one's own filters and weighers, without nova-scheduler."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from osc_traitsched.app import request
from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import file
from osc_traitsched.config.nova_conf import files_of
from osc_traitsched.core.inventory import snapshot
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec, host_states
from osc_traitsched.core.nova.plugin import PluginJudgment, PluginName
from osc_traitsched.core.nova.question import Question
from osc_traitsched.runner import document, process
from osc_traitsched.runner.process import TIMEOUT


@dataclasses.dataclass(frozen=True)
class Trial:
    """The hosts of a cloud, and what a plugin says of each.

    :ivar hosts: all that Nova lists, by name
    """

    hosts: tuple[HostState, ...]
    judgment: PluginJudgment


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
    remote_address: str | None = None,
) -> Trial:
    """Return what a filter or weigher says of all hosts of a cloud for one request.

    :raises Refusal: when Nova refuses the server
    :raises NotForProject: for a flavor or an image that the project may not use
    :raises BadConfiguration, PluginFails, NovaPythonFails: as :func:`judge`
    :raises CloudBroke: when a service can't be read
    """
    request.accepted(cloud, question)
    nodes = sorted(lookup.computes(cloud), key=lambda each: each.node)
    hosts = host_states(nodes, question.aggregates, question.servers)
    spec = dataclasses.replace(question.spec(), remote_address=remote_address)
    aggregates = read.host_aggregates(question.aggregates)
    found = judge(hosts, spec, [plugin], nova_python, nova_conf, timeout, aggregates)
    return Trial(hosts, found)
