"""Facts to the question for ``nova_runner.py``, and its answer to values.

A filter that touches what is not in the question has an unknown answer.
"""

from __future__ import annotations

import base64
import importlib.resources
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Optional

from osc_traitsched.core.inventory.snapshot import NodeReport
from osc_traitsched.core.nova.filter.compute import most_io_ops
from osc_traitsched.core.nova.filter.state import (
    OWN,
    PASSES,
    Fails,
    FilterResult,
    HostState,
    Raises,
    RequestSpec,
    ServerGroup,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import as_claim
from osc_traitsched.core.nova.own import (
    TOGETHER,
    NovaPythonFails,
    PluginFails,
    PluginJudgment,
    PluginName,
    PluginRun,
    Weighed,
    Weights,
)
from osc_traitsched.core.nova.weighers import OwnWeigher

Body = Mapping[str, Any]

_RATIOS = {
    "VCPU": "cpu_allocation_ratio",
    "MEMORY_MB": "ram_allocation_ratio",
    "DISK_GB": "disk_allocation_ratio",
}


def question(
    hosts: Sequence[HostState],
    spec: RequestSpec,
    plugins: Iterable[tuple[PluginName, str | None]],
    nova_conf: Iterable[tuple[str, str]] | None = None,
    options: Mapping[str, str] | None = None,
    all_lines: bool = True,
) -> Body:
    """The question for the runner.

    :param plugins: each with the text of its file, if it is in one
    :param nova_conf: name and text of each file; None for the other Python's own
    :param options: ``section.option`` that override nova.conf
    :param all_lines: log all lines, or only the last line of each rejection
    """
    return {
        "plugins": _plugins(plugins),
        "options": _options(options or {}),
        "all_lines": all_lines,
        "nova_conf": None if nova_conf is None else _files(nova_conf),
        "aggregates": _aggregates(hosts),
        "hosts": [_host(each) for each in hosts],
        "servers": sorted(_servers(hosts, spec)),
        "spec": _spec(spec),
    }


#: Seconds in which the runner counts how many servers fit.
_COUNTING = 20


def claims(
    hosts: Sequence[HostState],
    specs: Iterable[Body],
    filters: Iterable[PluginName],
    options: Mapping[str, Any],
    most: int,
) -> Body:
    """The question what hosts can claim for each of many servers.

    :param specs: of :func:`claim`
    :param most: so many servers of each are tried on a host
    """
    return {
        "plugins": _plugins((name, None) for name in filters),
        "options": _options(options),
        "nova_conf": None,
        "hosts": [{**_host(each), "aggregates": []} for each in hosts],
        "claims": [*specs],
        "most": most,
        "seconds": _COUNTING,
    }


def claim(spec: RequestSpec) -> Body:
    """The part of a request that NUMA cells and PCI devices depend on."""
    plain = RequestSpec(spec.server, "")
    found = {**_spec(plain), "project_id": "", "availability_zone": None}
    specs = found["flavor"]["extra_specs"].items()
    kept = {k: v for k, v in specs if not k.startswith("trait")}
    image = {k: v for k, v in found["image"].items() if k.startswith("hw_")}
    flavor = {**found["flavor"], "extra_specs": kept}
    return {**found, "flavor": flavor, "image": image, "is_bfv": False}


#: Servers that a host has room for: at least, at most.
_Room = tuple[Optional[int], Optional[int]]


class HostClaim(NamedTuple):
    """What a host can claim.

    :ivar answers: of filters
    :ivar room: with the limits of NUMATopologyFilter
    :ivar claim_room: without that filter
    """

    answers: Mapping[str, FilterResult]
    room: _Room
    claim_room: _Room

    def room_for(self, has_limits: bool | None) -> _Room:
        """The room with limits or without; both bounds if that is unknown."""
        if has_limits is None:
            return self.room[0], self.claim_room[1]
        return self.room if has_limits else self.claim_room


class Claims(NamedTuple):
    """What hosts can claim for one server, by node UUID: now, and if they were empty.

    Hosts that are down, and servers that Nova can't judge, have no answer.
    """

    now: Mapping[str, HostClaim]
    emptied: Mapping[str, HostClaim]


def claimed(body: Body, command: str) -> list[Claims]:
    """The runner's answers for each server; errors as :func:`judgment`."""
    if "error" in body:
        _fail(body, command)
    return list(map(Claims, _claims(body), _claims(body["emptied"])))


def _claims(body: Body) -> Iterator[Mapping[str, HostClaim]]:
    for found, wanted in zip(body["claims"], body["wanted"]):
        by_uuid: dict[str, HostClaim] = {}
        for each, free, uuids in zip(found or (), body["free"], body["kinds"]):
            rooms = [each.pop(name, None) for name in ("room", "claim_room")]
            answers = {
                name: _claim(one, wanted[name], free[name])
                for name, one in each.items()
                if "unknown" not in one
            }
            judged = [*answers.values()], [*map(as_claim, answers.values())]
            claim = HostClaim(answers, *map(_room, rooms, judged))
            by_uuid.update(dict.fromkeys(uuids, claim))
        yield by_uuid


def _room(room: Sequence[int | None] | None, answers: Iterable[FilterResult]) -> _Room:
    if room is not None:
        return room[0], room[1]
    return 0, 0 if any(isinstance(each, Fails) for each in answers) else None


def _claim(body: Body, wanted: str, free: str) -> FilterResult:
    answer = _answer(body)
    if not isinstance(answer, Fails):
        return answer
    passes = body["claim"]
    return Fails(OWN, wanted=wanted, found=(free,), claim_passes=passes)


def read(command: str, service: str, options: Iterable[str], timeout: float) -> Body:
    """What a service's Nova reads: options in force, and cells.

    :raises NovaPythonFails: if that Python does not answer, or Nova can't read it
    """
    return _read(command, {"read": [*options], "service": service}, timeout)


def records(
    command: str, service: str, servers: Iterable[str], with_hosts: bool, timeout: float
) -> Body:
    """The requests of servers that Nova keeps, by UUID; fields are in the runner.

    ``unread`` has the names of exceptions, by the UUIDs of other servers.

    :param with_hosts: with ``hosts``, the records of all compute nodes, by UUID, as
        Nova's objects read them
    :raises NovaPythonFails: as :func:`read`
    """
    asked = {"read": [], "service": service}
    more = {"requests": [*servers], "hosts": with_hosts}
    return _read(command, {**asked, **more}, timeout)


def _read(command: str, asked: Body, timeout: float) -> Body:
    found = ask(command, asked, timeout)
    if "error" in found:
        _fail(found, command)
    body: Body = found["read"]
    return body


def _plugins(plugins: Iterable[tuple[PluginName, str | None]]) -> list[Body]:
    return [
        {
            "name": n.text,
            "path": n.path,
            "file": n.file,
            "source": source,
            "kind": n.kind,
            "is_novas": n.is_novas,
        }
        for n, source in plugins
    ]


def _options(options: Mapping[str, Any]) -> list[Body]:
    return [
        {**dict(zip(("section", "option"), name.split(".", 1))), "value": value}
        for name, value in options.items()
    ]


def _files(files: Iterable[tuple[str, str]]) -> list[Body]:
    return [{"name": name, "text": text} for name, text in files]


def _aggregates(hosts: Iterable[HostState]) -> Body:
    aggregates = {each.uuid: each for host in hosts for each in host.aggregates}
    return {
        uuid: {
            "id": int(each.id),
            "name": each.name,
            "hosts": list(each.hosts),
            "metadata": dict(each.metadata),
        }
        for uuid, each in aggregates.items()
    }


def _servers(hosts: Iterable[HostState], spec: RequestSpec) -> Iterable[str]:
    """Servers whose host, or lack of one, is known."""
    found = {server for host in hosts for server in host.instances or ()}
    found.update(value for values in spec.hints.values() for value in values)
    found.update(spec.group.members if spec.group else ())
    return found


def _host(host: HostState) -> Body:
    compute, report = host.compute, host.compute.report
    idle = most_io_ops(host) == 0
    stats = {}
    # Of a node that never had any server nova-compute reports neither.
    if report is not None and report.running_vms:
        stats["num_instances"] = str(report.running_vms)
        stats.update({"io_workload": "0"} if idle else {})
    state = {"hypervisor_hostname": host.node, **_ratios(host), **_figures(report)}
    return {
        "uuid": compute.uuid,
        "host": host.host,
        "node": host.node,
        "state": {**state, "num_io_ops": 0} if idle else state,
        "stats": stats,
        "has_own_stats": report is None or report.is_of_ironic,
        "service": _service(host),
        "is_up": compute.is_up,
        "aggregates": [each.uuid for each in host.aggregates],
        "instances": None if host.instances is None else sorted(host.instances),
    }


def _figures(report: NodeReport | None) -> Body:
    """Return attributes of a HostState under Nova's names.

    nova/scheduler/host_manager.py, ``HostState._update_from_compute_node``
    """
    if report is None:
        return {}
    figures = {
        "vcpus_total": report.vcpus,
        "vcpus_used": report.vcpus_used,
        "total_usable_ram_mb": report.memory_mb,
        "free_ram_mb": report.free_ram_mb,
        "total_usable_disk_gb": report.local_gb,
        "disk_mb_used": report.local_gb_used * 1024,
        "free_disk_mb": report.free_disk_mb,
        "num_instances": report.running_vms,
        "hypervisor_type": report.hypervisor_type,
        "hypervisor_version": report.hypervisor_version,
        "host_ip": report.host_ip,
    }
    if report.cpu_info is None:
        return figures
    return {**figures, "cpu_info": json.dumps(report.cpu_info)}


def _ratios(host: HostState) -> Body:
    found = host.allocation_ratios or {}
    return {name: found[each] for each, name in _RATIOS.items() if each in found}


def _service(host: HostState) -> Body:
    compute = host.compute
    record = {
        "host": host.host,
        "binary": "nova-compute",
        "topic": "compute",
        "disabled": not compute.is_enabled,
        "disabled_reason": compute.disabled_reason or None,
    }
    return {**record, "forced_down": False} if compute.is_up else record


def _spec(spec: RequestSpec) -> Body:
    server = spec.server
    flavor = server.flavor
    return {
        "flavor": {
            "name": spec.flavor_name,
            "vcpus": flavor.vcpus,
            "memory_mb": flavor.ram,
            "root_gb": flavor.disk,
            "ephemeral_gb": flavor.ephemeral,
            "swap": flavor.swap,
            "extra_specs": dict(flavor.specs),
        },
        "image": _image(spec),
        "project_id": server.project_id,
        "availability_zone": server.zone or None,
        "instance_uuid": spec.instance_uuid,
        "is_bfv": server.root_disk_is_a_volume,
        "hints": {name: list(values) for name, values in spec.hints.items()},
        "group": None if spec.group is None else _group(spec.group),
        "remote_address": spec.remote_address,
        "needs_devices": any(each.needs_device for each in server.parts.ports),
        "num_instances": spec.num_instances,
    }


def _image(spec: RequestSpec) -> Body:
    body = spec.server.image.body
    return {k: v for k, v in body.items() if k != "id" or spec.image_id}


def _group(group: ServerGroup) -> Body:
    limit = {"max_server_per_host": str(group.max_server_per_host)}
    return {
        "name": group.name,
        "policy": group.policy,
        "rules": limit if group.policy == "anti-affinity" else {},
        "members": sorted(group.members),
        "hosts": sorted(group.hosts),
    }


def judgment(body: Body, command: str) -> PluginJudgment:
    """The runner's answer; ``command`` is its Python, as the user named it.

    :raises PluginFails: for a plugin that can't be loaded
    :raises NovaPythonFails: for all else that keeps it from judging
    """
    if "error" in body:
        _fail(body, command)
    filters: dict[str, Mapping[str, FilterResult]] = {}
    weights: dict[str, Weights] = {}
    logs: dict[str, Mapping[str, tuple[str, ...]]] = {}
    texts = [each["plugin"] for each in body["plugins"]]
    for each in body["plugins"]:
        text, found = each["plugin"], each.get("answers")
        name = text if texts.count(text) == 1 else f"{text}:{each['class']}"
        if found is None:
            weights[name] = _weights(each)
            logs[name] = {"": tuple(each.get("log", ()))}
            continue
        filters[name] = {uuid: _answer(one) for uuid, one in found.items()}
        logs[name] = {uuid: tuple(one.get("log", ())) for uuid, one in found.items()}
    return PluginJudgment(body["nova"], filters, weights, logs)


def runs(body: Body, command: str) -> tuple[PluginRun, ...]:
    """The runner's answer, each class by itself; errors as :func:`judgment`."""
    if "error" in body:
        _fail(body, command)
    return tuple(map(_run, body["plugins"]))


def _run(body: Body) -> PluginRun:
    name, together = body["class"], body["together"]
    if "answers" not in body:
        return PluginRun(body["plugin"], name, weigher=_weigher(body))
    answers = {uuid: _answer(one) for uuid, one in body["answers"].items()}
    if together:
        # Which hosts are left by then, nova-scheduler alone knows.
        answers = dict.fromkeys(answers, TOGETHER)
    return PluginRun(body["plugin"], name, answers)


def _weigher(body: Body) -> OwnWeigher:
    figures = body["figures"]
    known = {} if body["together"] else figures
    values = {u: one["value"] for u, one in known.items() if "value" in one}
    without = {
        uuid: _unanswered(one) if "value" not in one else TOGETHER
        for uuid, one in figures.items()
        if uuid not in values
    }
    raw = {uuid: raw for uuid, (raw, _) in values.items()}
    multipliers = {uuid: multiplier for uuid, (_, multiplier) in values.items()}
    minimum, maximum = body["limits"]
    return OwnWeigher(body["class"], raw, multipliers, minimum, maximum, without)


def _fail(body: Body, command: str) -> None:
    if body["error"] in ("import", "no-plugin"):
        raise PluginFails(body["plugin"], body["text"])
    raise NovaPythonFails(command, body["error"], body["text"])


def _answer(body: Body) -> FilterResult:
    if "passes" not in body:
        return _unanswered(body)
    return PASSES if body["passes"] else Fails(OWN, found=tuple(body.get("log", ())))


def _weights(body: Body) -> Weights:
    if "raw" not in body:
        return _unanswered(body)
    return Weighed(body["raw"], body["normalized"], body["multiplier"])


def _unanswered(body: Body) -> Unknown | Raises:
    if "unknown" in body:
        return Unknown(body["unknown"])
    exception, _, text = body["raises"].partition(": ")
    return Raises(exception, "", text)


# Starts another Python, sends it the runner and a question, and takes its answer.


#: Seconds. To import Nova takes some, on a busy controller many.
TIMEOUT = 120.0

_LONGEST_REASON = 500

#: Sent first. ``python -`` imports from the folder it was started in before all others;
#: ``-P`` needs Python 3.11. Until then nothing may be imported but built-in modules.
_LEAVE_FOLDER = (
    b"import posix, sys; sys.path[:] = "
    b"[path for path in sys.path if path not in ('', posix.getcwd())]\n"
)


def ask(command: str, question: Mapping[str, Any], timeout: float) -> Any:
    """The runner's answer to a question.

    Only Nova must exist there: program and question go through standard input, and the
    arguments have nothing that a shell on the way could change.

    No code of the current folder runs, unless ``PYTHONPATH`` has its absolute path, and
    the login (``OS_*``) is not passed on. A Python starts in an empty folder. A command
    line starts in the current one, since its words can be relative paths.

    :param command: a Python, a virtual environment, or a command line that ends in a
        Python and passes standard input on
    :param timeout: seconds
    :raises NovaPythonFails: if no answer comes
    """
    try:
        words = arguments(command)
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run(  # noqa: S603  The user names what is to be run.
                [*words, "-"],
                input=_program(question),
                capture_output=True,
                timeout=timeout,
                check=False,
                cwd=empty if len(words) == 1 else None,
                env=_environment(),
            )
    except subprocess.TimeoutExpired as exc:
        raise NovaPythonFails(command, "timeout", f"{timeout:g}") from exc
    except OSError as exc:
        reason = exc.strerror or str(exc)
        raise NovaPythonFails(command, "not-started", reason) from exc
    return _process_answer(command, done)


def arguments(command: str) -> list[str]:
    """A command line's words; a virtual environment's are its Python.

    :raises NovaPythonFails: for an invalid command line
    """
    if not os.path.dirname(command) and shutil.which(command):
        # As in a shell, a folder of this name does not matter.
        return [command]
    path = os.path.join(os.getcwd(), os.path.expanduser(command))
    if os.path.isdir(path):
        return [os.path.join(path, "bin", "python")]
    try:
        words = [path] if os.path.exists(path) else shlex.split(command)
    except ValueError as exc:
        raise NovaPythonFails(command, "not-started", str(exc)) from exc
    if not words:
        raise NovaPythonFails(command, "not-started", "no command is named")
    return words


def _environment() -> dict[str, str]:
    """Without the login and the current folder; ``PYTHONPATH`` becomes absolute."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OS_")}
    here = os.getcwd()
    entries = environment.pop("PYTHONPATH", "").split(os.pathsep)
    folders = [
        os.path.join(here, each) for each in entries if os.path.normpath(each) != "."
    ]
    if folders:
        environment["PYTHONPATH"] = os.pathsep.join(folders)
    return environment


def _program(question: Mapping[str, Any]) -> bytes:
    """The runner's text with a last line that asks it."""
    room = importlib.resources.files("osc_traitsched.runner")
    program = (room / "nova_runner.py").read_bytes()
    packed = zlib.compress(json.dumps(question).encode())
    asked = b'main_packed("' + base64.b64encode(packed) + b'")\n'
    return _LEAVE_FOLDER + program + b"\n" + asked


def _process_answer(command: str, done: subprocess.CompletedProcess[bytes]) -> Any:
    out, err = (each.decode(errors="replace") for each in (done.stdout, done.stderr))
    lines = out.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else None
    except ValueError:
        found = None
    # A wrapper may log lines that are JSON, too.
    if isinstance(found, dict) and found.keys() & {
        "plugins",
        "claims",
        "read",
        "error",
    }:
        return found
    said = [line.strip() for line in (err or out).splitlines() if line.strip()]
    if not said and not done.returncode:
        raise NovaPythonFails(command, "silent")
    reason = said[-1] if said else f"it exited with {done.returncode}"
    raise NovaPythonFails(command, "no-answer", reason[:_LONGEST_REASON])
