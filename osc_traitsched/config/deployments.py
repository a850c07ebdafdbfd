"""Deployment tools: what their files set, and what to write into them."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import yaml

from osc_traitsched.config import document, nova_conf
from osc_traitsched.config.document import Branch
from osc_traitsched.config.nova_conf import Entry, Ini, Layer, put, section_and_key
from osc_traitsched.core.answer import NovaPython
from osc_traitsched.core.errors import BadConfiguration, BadUsage
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import (
    CHARMED,
    OPTIONS,
    OSA,
    NoEffect,
    Option,
    OptionType,
    Service,
    Setting,
    Value,
)
from osc_traitsched.text import by_key, listed
from osc_traitsched.text import option as option_name

# Whose a file of YAML is, and what is seen in it.


#: By a key at the top: whose the file is, and the option that takes it, if any does.
_WHOSE: tuple[tuple[str, str, str], ...] = (
    ("parameter_defaults|resource_registry", "TripleO's", "--environment"),
    ("apiVersion|kind|spec", "of Kubernetes", "--control-plane"),
    ("conf|.*_helm_values", "of OpenStack-Helm", "--nova-conf"),
    ("kolla_.*|enable_.*|network_interface", "Kolla-Ansible's", ""),
    ("applications|services|machines|settings|nova-cloud-controller", "a charm's", ""),
    ("nova_.*|.*_overrides|shared-infra_hosts", "OpenStack-Ansible's", ""),
    ("nova::.*", "hieradata of Puppet", ""),
)


def _refused(
    path: str, tops: Sequence[Branch], reason: str, taker: str
) -> BadConfiguration:
    """An error that says whose the file is, and what is seen in it and not read."""
    keys = {key for top in tops if _is_mapping(top) for key in top.children()}
    for pattern, whose, option in _WHOSE:
        if option != taker and any(re.fullmatch(pattern, key) for key in keys):
            way = f"name it by {option}" if option else _RENDERED
            reason += f"; it is {whose}: {way}"
            break
    places = [f"{key} (line {value.line})" for key, value, _ in _mentions(tops)]
    reason += f"; not read: {listed(places)}" if places else ""
    return BadConfiguration(path, None, reason)


_RENDERED = "use the rendered nova.conf (config doctor has the command)"


def _is_mapping(top: Branch) -> bool:
    return isinstance(top.node, yaml.MappingNode)


def _mentions(tops: Iterable[Branch]) -> Iterator[tuple[str, Branch, Option]]:
    for top in tops:
        for key, value in document.values(top):
            name = PARAMETERS.get(key) or ".".join(value.name.split(".")[-2:])
            named = options.NAMES.get(name)
            is_novas = "nova" in value.name.lower()
            option = named or (options.mentioned(key) if is_novas else None)
            if option:
                yield key, value, option


def _unread(entry: Entry, option: Option, reason: str, is_unread: bool) -> Entry:
    """The entry sets nothing here; if it is unread, Nova may read it."""
    name, source = option.name, entry.source
    place = f"under conf.nova.{option.section}"
    line = NoEffect(name, source, name, reason, is_unread=is_unread, place=place)
    return dataclasses.replace(entry, no_effect=line)


def _unread_value(value: Branch, option: Option, reason: str, is_unread: bool) -> Ini:
    entry = Entry("", value.path, value.line)
    name = f"{value.name}:{entry.source}"
    return {("", name): _unread(entry, option, reason, is_unread)}


# Files of nova.conf, and the values of OpenStack-Helm.


def read_files(paths: Iterable[str]) -> tuple[Ini, ...]:
    """Read files, and of directories the ``*.conf`` in the order of their names.

    A file of YAML has the values of OpenStack-Helm.

    :raises BadConfiguration: if one can't be read, or none exists
    """
    paths = tuple(paths)
    files = [file for path in paths for file in nova_conf.files_of(path)]
    if paths and not files:
        raise BadConfiguration(paths[0], None, "a directory without any *.conf file")
    return tuple(map(_read_file, files))


def _read_file(path: str) -> Ini:
    if path.endswith((".yaml", ".yml", ".json")):
        return _helm_values(path)
    text, service = document.read_text(path), nova_conf.service_of(path)
    return nova_conf.parse_ini(nova_conf.Text(path, text, service=service))


def _helm_values(path: str) -> Ini:
    """OpenStack-Helm's values for nova.conf: ``conf.nova``, at any depth."""
    entries: dict[tuple[str, str], Entry] = {}
    tops = document.read(path)
    values = [pair for top in tops for pair in document.values(top)]
    if not any(key == "conf" for key, _ in values):
        reason = "has no conf.nova, as the values of OpenStack-Helm have"
        raise _refused(path, tops, reason, "--nova-conf")
    for name, conf in values:
        nova = conf.find("nova") if name == "conf" and _is_mapping(conf) else None
        for section, branch in nova.children().items() if nova else ():
            for key, value in branch.children().items():
                for text in _helm_texts(value):
                    entry = Entry(text, path, value.line)
                    put(entries, section_and_key(f"{section}.{key}"), entry)
    for _, value, option in _mentions(tops):
        if ".conf.nova." not in f".{value.name}":
            reason = f"the chart writes conf.nova, and not {value.name}"
            entries.update(_unread_value(value, option, reason, is_unread=False))
    return entries


def _helm_texts(value: Branch) -> list[str]:
    """Null leaves the option out."""
    text, items = value.text(), value.items()
    if text is not None:
        return [] if value.is_null else [text]
    if items is None:
        several = value.find("values")
        items = several.items() if several else None
        return [each.text() or "" for each in items or ()]
    return [",".join(each.text() or "" for each in items)]


# The environment files of a TripleO deployment.


#: Parameters of tripleo-heat-templates, deployment/nova/
#: nova-scheduler-container-puppet.yaml, and what they set in nova.conf.
PARAMETERS: Mapping[str, str] = {
    row.parameter: row.name for row in options.OPTIONS.values() if row.parameter
}

#: The older one counts only where the newer one is empty.
FILTERS = ("NovaSchedulerEnabledFilters", "NovaSchedulerDefaultFilters")

#: Hieradata for all nodes, and for those that run nova-scheduler by default.
EXTRA_CONFIG = ("ExtraConfig", "ControllerExtraConfig")

AVAILABLE_FILTERS = "NovaSchedulerAvailableFilters"

#: Parameters of lists, and what they set in nova.conf.
_LISTS: Mapping[str, str] = {
    AVAILABLE_FILTERS: options.AVAILABLE_FILTERS,
    **dict.fromkeys(FILTERS, options.ENABLED_FILTERS),
}

_READ = frozenset({*PARAMETERS, *_LISTS, *EXTRA_CONFIG})

#: Other sections of an environment file.
_SECTIONS = ("resource_registry", "parameters", "parameter_merge_strategies")

# What Heat takes for a boolean parameter (oslo.utils, bool_from_string, strict).
_BOOLEANS: Mapping[str, bool] = {
    **dict.fromkeys(("t", "true", "on", "y", "yes", "1"), True),
    **dict.fromkeys(("f", "false", "off", "n", "no", "0"), False),
}


def filters_parameter(release: int) -> str:
    """The parameter for a list of filters; stable/victoria lacks the newer one."""
    newer, older = FILTERS
    return newer if release >= 23 else older


def environments(paths: Iterable[str]) -> Ini:
    """What environment files set in nova.conf; a later file wins.

    Parameters, and above them options of nova.conf in hieradata: of all nodes, and of
    the role Controller, which wins. Parameters of puppet-nova have the names of their
    options. What is seen and not read is there, too.

    :raises BadConfiguration: for a file or a value that Heat rejects
    """
    given = _given(paths)
    texts: dict[str, Sequence[str]] = {
        name: [str(_boolean(given[name])).lower()]
        for name in PARAMETERS
        if name in given
    }
    lists = {name: _list(given[name]) for name in _LISTS if name in given}
    texts[AVAILABLE_FILTERS] = lists.pop(AVAILABLE_FILTERS, ())
    for name in [name for name, filters in lists.items() if filters][:1]:
        texts[name] = [",".join(lists[name])]
    entries: dict[tuple[str, str], Entry] = {}
    for name in texts:
        key = section_and_key({**PARAMETERS, **_LISTS}[name])
        for text in texts[name]:
            put(entries, key, Entry(text, given[name].path, given[name].line, name))
    return {**entries, **_extra_config(given)}


def _extra_config(given: Mapping[str, Branch]) -> Ini:
    entries: dict[tuple[str, str], Entry] = {}
    for parameter in sorted(given.keys() - _READ):
        option = options.mentioned(parameter)
        if option and parameter.startswith("Nova"):
            _put_texts(entries, option.name, given[parameter])
        for name, branch, option in _mentions([given[parameter]]):
            reason = f"{name} of {parameter}"
            entries.update(_unread_value(branch, option, reason, is_unread=True))
    for parameter in EXTRA_CONFIG:
        hieradata = given.get(parameter)
        for name, value in hieradata.children().items() if hieradata else ():
            if name == "nova::config::nova_config":
                for written, setting in value.children().items():
                    section, _, key = written.partition("/")
                    _put_texts(entries, f"{section}.{key}", setting.find("value"))
            elif option := options.mentioned(name) if "nova::" in name else None:
                if name.startswith("nova::compute::"):
                    reason = f"{name} is for compute nodes alone"
                    entries.update(_unread_value(value, option, reason, True))
                else:
                    _put_texts(entries, option.name, value)
    return entries


def _put_texts(
    entries: dict[tuple[str, str], Entry], name: str, value: Branch | None
) -> None:
    """Puppet writes a line for each of several values."""
    option = options.NAMES.get(name)
    if value is None:
        return
    if option and option.kind is OptionType.MULTI:
        texts = [_json(item) for item in value.items() or [value]]
    else:
        texts = [",".join(_list(value)) if value.items() else value.text() or ""]
    for text in texts:
        put(entries, section_and_key(name), Entry(text, value.path, value.line))


def _json(value: Branch) -> str:
    """A text as it is, and a mapping as Nova's aliases are written."""
    text = value.text()
    if text is not None:
        return text
    return json.dumps({key: each.text() for key, each in value.children().items()})


def _given(paths: Iterable[str]) -> dict[str, Branch]:
    given: dict[str, Branch] = {}
    for path in paths:
        given.update(_parameters(path))
    # To Heat, a parameter that is null is one that nobody gave.
    return {name: value for name, value in given.items() if not value.is_null}


def _parameters(path: str) -> Mapping[str, Branch]:
    documents = document.read(path)
    if len(documents) > 1:
        raise documents[1].bad("a second document: an environment file has one")
    if not documents or documents[0].is_null:
        return {}
    if not documents[0].children().keys() & {*_SECTIONS, "parameter_defaults"}:
        reason = "has no parameter_defaults, as environment files of TripleO have"
        raise _refused(path, documents, reason, "--environment")
    found = documents[0].find("parameter_defaults")
    return found.children() if found else {}


def _boolean(given: Branch) -> bool:
    text = given.text()
    if text is None or text.strip().lower() not in _BOOLEANS:
        raise given.bad("is not true or false", text)
    return _BOOLEANS[text.strip().lower()]


def _list(given: Branch) -> tuple[str, ...]:
    items = given.items()
    written = given.text() if items is None else ",".join(map(_item, items))
    if written is None:
        raise given.bad("is not a list")
    # Heat joins a list and puppet writes it: nova.conf then has it with commas.
    return tuple(part.strip() for part in written.split(",") if part.strip())


def _item(item: Branch) -> str:
    text = item.text()
    if text is None:
        raise item.bad("is not a filter's name")
    return text


# The control plane of a RHOSO deployment.


API_VERSION, KIND = "core.openstack.org/v1beta1", "OpenStackControlPlane"

#: Where in it the scheduler's own part of nova.conf is.
SCHEDULER = (
    "spec",
    "nova",
    "template",
    "schedulerServiceTemplate",
    "customServiceConfig",
)


#: The templates of services; the conductor of the first cell is that of all moves.
_SERVICES = {
    "apiServiceTemplate": Service.API,
    "schedulerServiceTemplate": Service.SCHEDULER,
    "cell0.conductorServiceTemplate": Service.CONDUCTOR,
}


def place_of(service: Service, is_rhoso: bool) -> str:
    """Where an option of a service is set."""
    names = [name for name, each in _SERVICES.items() if each is service]
    if is_rhoso and names:
        return f"in {names[0]}"
    return f"in the nova.conf of {service.value}"


def read(path: str) -> list[Layer]:
    """A control plane: what each service reads, and the scheduler's own text.

    Or the body of an ``oc patch`` without a kind, or the ConfigMap ``service-values``
    of RHOSO's published architectures.

    :raises BadConfiguration: for a file that has not one control plane
    """
    tops = document.read(path)
    resources = [each for top in tops for each in _resources(top)]
    planes = [each for each in resources if _template_in(each)]
    if not planes:
        raise _refused(path, tops, f"no {KIND} in this file", "--control-plane")
    if len(planes) > 1:
        raise planes[1].bad(f"a second {KIND}: leave one in the file")
    template = planes[0].find(*_template_in(planes[0]))
    own = template.find(*SCHEDULER[3:]) if template else None
    if own:
        _text(own)
    layers = [Layer()]
    for key, value in document.values(template) if template else ():
        if key == SCHEDULER[-1] and value.is_string():
            *_, cell, name, _ = value.name.split(".")
            named = _SERVICES.get(name) or _SERVICES.get(f"{cell}.{name}")
            service = named.value if named else f"{cell}.{name}"
            text = dataclasses.replace(_text(value), service=service)
            kept = text.text if named is Service.SCHEDULER else ""
            layers.append(Layer(nova_conf.parse_ini(text), kept))
    return layers


def _resources(top: Branch) -> list[Branch]:
    """A ``kind: List`` has several."""
    if top.is_null:
        return []
    items = top.children().get("items")
    return [top] if items is None else items.items() or []


def _template_in(resource: Branch) -> tuple[str, ...]:
    """Where a resource has Nova's services; empty if it can't have them."""
    kind = resource.find("kind")
    if kind is None:
        return SCHEDULER[:3] if resource.find(*SCHEDULER[:3]) else ()
    if kind.text() == KIND:
        return SCHEDULER[:3]
    name = resource.find("metadata", "name") if kind.text() == "ConfigMap" else None
    is_values = name is not None and name.text() == "service-values"
    return ("data", "nova") if is_values else ()


def _text(found: Branch) -> nova_conf.Text:
    text = found.text()
    if text is None or not found.is_string():
        raise found.bad("is not a text", text)
    if found.is_literal():
        return nova_conf.Text(found.path, text, found.line + 1)
    return nova_conf.Text(found.path, text, found.line, in_one_line=True)


# Options to set, written for each kind of deployment.


Values = Mapping[str, Value]


def nova_conf_text(values: Values) -> str:
    """Return options as INI text; nothing for none."""
    sections = by_key(
        (section, f"{key} = {_as_ini(value)}\n")
        for name, value in values.items()
        for section, key in [section_and_key(name)]
    )
    return "\n".join(
        f"[{section}]\n{''.join(lines)}" for section, lines in sections.items()
    )


def environment(values: Values, release: int) -> str:
    """An environment file of TripleO; BadUsage if no parameter fits."""
    if not values:
        return ""
    given = dict(_fragment_parameters(values, release))
    return yaml.safe_dump({"parameter_defaults": given}, sort_keys=False)


def control_plane(values: Values, custom_config: str) -> str:
    """Options as a part of RHOSO's control plane; empty if there are none.

    :param custom_config: the scheduler's present customServiceConfig, kept here, since
        merging replaces it; of two equal options, oslo.config takes the last
    """
    text = "\n".join(filter(None, (_kept(custom_config), nova_conf_text(values))))
    if not text:
        return ""
    *above, last = SCHEDULER
    below: dict[str, object] = {last: _Block(text)}
    for key in reversed(above):
        below = {key: below}
    head = {"apiVersion": API_VERSION, "kind": KIND}
    return yaml.dump({**head, **below}, Dumper=_Dumper, sort_keys=False)


def _as_ini(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _fragment_parameters(
    values: Values, release: int
) -> Iterator[tuple[str, Value | list[str]]]:
    names = {option: parameter for parameter, option in PARAMETERS.items()}
    names[options.ENABLED_FILTERS] = filters_parameter(release)
    for option, value in values.items():
        if value == ():
            raise BadUsage(
                f"{option_name(option)} would be empty, which TripleO takes for Nova's "
                "own list; name at least one other filter"
            )
        if option not in names:
            raise BadUsage(
                f"TripleO has no parameter for {option_name(option)}; it takes "
                "hieradata, which this command does not write"
            )
        yield names[option], list(value) if isinstance(value, tuple) else value


def _kept(custom_config: str) -> str:
    # Blanks at a line's end mean nothing to oslo.config, and YAML has no block
    # with them.
    lines = [line.rstrip() for line in custom_config.split("\n")]
    text = "\n".join(lines).strip("\n")
    return f"{text}\n" if text else ""


class _Block(str):
    """A text that YAML writes line by line, behind a ``|``."""


class _Dumper(yaml.SafeDumper):
    """Writes a :class:`_Block` as one."""


def _represented(dumper: yaml.SafeDumper, text: _Block) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")


_Dumper.add_representer(_Block, _represented)


# What a distribution sets before anybody else does.


UPSTREAM, KOLLA = "upstream", "kolla-ansible"
TRIPLEO, RHOSO = options.TRIPLEO, options.RHOSO

#: The rows of options have what they set: as tripleo-heat-templates in
#: deployment/nova/nova-scheduler-container-puppet.yaml, nova-operator of
#: openstack-k8s-operators in templates/nova/nova.conf, openstack-ansible-os_nova in
#: defaults/main.yml, and charm-nova-cloud-controller in hooks/nova_cc_context.py.
#: kolla-ansible sets none of these, unless Blazar or the fake driver is enabled.
NAMES = (UPSTREAM, TRIPLEO, RHOSO, KOLLA, OSA, CHARMED)


def settings(name: str, release: int) -> Mapping[str, Setting]:
    """The settings of one of :data:`NAMES` in a release; none is given."""
    source = f"the baseline {name}"
    return {
        row.name: Setting(value, source)
        for row in OPTIONS.values()
        for distribution, first, value in row.baselines
        if distribution == name and first <= release
    }


# How to start a Python beside Nova.


@dataclasses.dataclass(frozen=True)
class _Deployer:
    """A deployment tool.

    :ivar commands: start a Python, one for each nova.conf; ``{ssh}`` leads to another
        machine, ``{container}`` is that of nova-scheduler
    :ivar hosts: what nova-scheduler's host is called in Nova, with the ``machine`` that
        it is on; empty if it is that machine
    :ivar files: one of them exists where the tool runs, or where nova-scheduler does
    """

    tool: str
    commands: tuple[str, ...]
    hosts: str = ""
    files: tuple[str, ...] = ()


_DEPLOYERS = (
    _Deployer(
        "Kolla",
        ("{ssh}sudo docker exec -i nova_scheduler python3",),
        files=("/etc/kolla",),
    ),
    _Deployer(
        "TripleO",
        ("{ssh}sudo podman exec -i nova_scheduler python3",),
        # Heat's name of a node, with its domain.
        r"\w+-controller-\d+(\..*)?",
        ("/var/lib/config-data/puppet-generated", "~/overcloudrc"),
    ),
    _Deployer(
        "RHOSO",
        (
            "scheduler=oc exec -i nova-scheduler-0 -- python3",
            "api=oc exec -i nova-api-0 -- python3",
            "conductor=oc exec -i nova-cell0-conductor-0 -- python3",
        ),
        r"nova-scheduler-\d+",
    ),
    _Deployer(
        "Helm",
        ("kubectl -n openstack exec -i deploy/nova-scheduler -- python3",),
        r"nova-scheduler-[0-9a-f]+-\w{5}",
    ),
    _Deployer(
        "OSA",
        # The shell of the container puts in the version.
        ("{ssh}lxc-attach -n {container} -- sh -c /openstack/venvs/nova-*/bin/python",),
        r"(?P<machine>.+)-nova-\w+-container-[0-9a-f]+",
        ("/etc/openstack_deploy",),
    ),
    _Deployer(
        "charms",
        ("juju ssh --pty=false nova-cloud-controller/leader sudo -u nova python3",),
        r"juju-[0-9a-f]+-.+",
    ),
    _Deployer(
        "package", ("{ssh}sudo -u nova python3",), files=("/etc/nova/nova.conf",)
    ),
)


def nova_pythons(hosts: Sequence[str], machine: str) -> tuple[NovaPython, ...]:
    """How to start a Python beside Nova, for each tool that may have deployed it.

    :param hosts: of nova-scheduler, as Nova calls them; empty if unknown
    :param machine: the name of this one
    """
    host = next(iter(hosts), "")
    by_name = [e for e in _DEPLOYERS if e.hosts and re.fullmatch(e.hosts, host)]
    by_file = [
        each
        for each in _DEPLOYERS
        if any(os.path.exists(os.path.expanduser(path)) for path in each.files)
    ]
    # If the name tells nothing, the tools whose hosts have names of their own are out.
    left = [each for each in _DEPLOYERS if not (host and each.hosts)]
    return tuple(_started(e, host, machine) for e in by_name or by_file or left)


def _started(deployer: _Deployer, host: str, machine: str) -> NovaPython:
    found = re.fullmatch(deployer.hosts, host) if deployer.hosts else None
    on = found.groupdict().get("machine", host) if found else host
    head, _, tail = host.rpartition("-")
    names = {
        "ssh": f"ssh {on} " if on not in ("", machine) else "",
        "container": f"{head.replace('-', '_')}-{tail}" if found else "CONTAINER",
    }
    commands = tuple(each.format_map(names) for each in deployer.commands)
    return NovaPython(deployer.tool, host, commands)
