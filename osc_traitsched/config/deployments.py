"""Deployment tools: what their files set, and what to write into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import yaml

from osc_traitsched.config import document, nova_conf
from osc_traitsched.config.document import Branch
from osc_traitsched.config.nova_conf import Entry, Ini, put, section_and_key
from osc_traitsched.core.errors import BadConfiguration, NoParameter
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Value
from osc_traitsched.core.nova.settings import Setting

# The configuration room: the environment files of a TripleO deployment.


#: Parameters of tripleo-heat-templates, deployment/nova/
#: nova-scheduler-container-puppet.yaml, and what they set in nova.conf.
PARAMETERS: Mapping[str, str] = {
    "NovaSchedulerQueryImageType": options.IMAGE_TYPE,
    "NovaSchedulerEnableIsolatedAggregateFiltering": options.ISOLATION,
    "NovaSchedulerLimitTenantsToPlacementAggregate": options.TENANT,
    "NovaSchedulerPlacementAggregateRequiredForTenants": options.TENANT_REQUIRED,
    "NovaSchedulerQueryPlacementForAvailabilityZone": options.AZ_QUERY,
    "NovaSchedulerQueryPlacementForRoutedNetworkAggregates": options.ROUTED_NETWORKS,
}

#: The older one counts only where the newer one is empty.
FILTERS = ("NovaSchedulerEnabledFilters", "NovaSchedulerDefaultFilters")

#: Hieradata for all nodes, and for those that run nova-scheduler by default.
EXTRA_CONFIG = ("ExtraConfig", "ControllerExtraConfig")

AVAILABLE_FILTERS = "NovaSchedulerAvailableFilters"

# What Heat takes for a boolean parameter (oslo.utils, bool_from_string, strict).
_BOOLEANS: Mapping[str, bool] = {
    **dict.fromkeys(("t", "true", "on", "y", "yes", "1"), True),
    **dict.fromkeys(("f", "false", "off", "n", "no", "0"), False),
}


def filters_parameter(release: int) -> str:
    """Return the parameter to set a list of filters with.

    The newer one is not in stable/victoria of tripleo-heat-templates.
    """
    newer, older = FILTERS
    return newer if release >= 23 else older


def settings(paths: Iterable[str]) -> Mapping[str, Setting]:
    """Return what the parameters of environment files set; a later file wins.

    :raises BadConfiguration: for a file or a value that Heat refuses
    """
    given = _given(paths)
    found = {
        option: _setting(parameter, given[parameter], _boolean(given[parameter]))
        for parameter, option in PARAMETERS.items()
        if parameter in given
    }
    for parameter in (AVAILABLE_FILTERS, *FILTERS):
        filters = _list(given[parameter]) if parameter in given else ()
        if filters:
            made = _setting(parameter, given[parameter], filters)
            is_available = parameter == AVAILABLE_FILTERS
            name = (
                options.AVAILABLE_FILTERS if is_available else options.ENABLED_FILTERS
            )
            found.setdefault(name, made)
    return found


def extra_config(paths: Iterable[str]) -> Ini:
    """Options of nova.conf in hieradata: ``nova::config::nova_config``.

    Of all nodes, and of the role Controller, which wins.

    :raises BadConfiguration: for a file that Heat refuses
    """
    given = _given(paths)
    found: dict[tuple[str, str], Entry] = {}
    for parameter in EXTRA_CONFIG:
        hieradata = given.get(parameter)
        config = hieradata.find("nova::config::nova_config") if hieradata else None
        for name, entry in config.children().items() if config else ():
            value = entry.find("value")
            if value is not None:
                text = ",".join(_list(value)) if value.items() else value.text() or ""
                section, _, key = name.partition("/")
                place = Entry(text, value.path, value.line)
                put(found, section_and_key(f"{section}.{key}"), place)
    return found


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
    found = documents[0].find("parameter_defaults") if documents else None
    return found.children() if found else {}


def _setting(parameter: str, given: Branch, value: Value) -> Setting:
    return Setting(value, f"{given.path}:{given.line} ({parameter})", given=True)


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


# The configuration room: the control plane of a RHOSO deployment.


API_VERSION, KIND = "core.openstack.org/v1beta1", "OpenStackControlPlane"

#: Where in it the scheduler's own part of nova.conf is.
SCHEDULER = (
    "spec",
    "nova",
    "template",
    "schedulerServiceTemplate",
    "customServiceConfig",
)


def read(path: str) -> nova_conf.Text:
    """Return the scheduler's customServiceConfig; empty if there is none.

    A control plane, the body of an ``oc patch`` without a kind, or the ConfigMap
    ``service-values`` of RHOSO's published architectures.

    :raises BadConfiguration: for a file that has not one control plane
    """
    resources = [each for top in document.read(path) for each in _resources(top)]
    planes = [each for each in resources if _scheduler_in(each)]
    if not planes:
        raise BadConfiguration(path, None, f"no {KIND} in this file")
    if len(planes) > 1:
        raise planes[1].bad(f"a second {KIND}: leave one in the file")
    found = planes[0].find(*_scheduler_in(planes[0]))
    return _text(found) if found else nova_conf.Text(path, "")


def _resources(top: Branch) -> list[Branch]:
    """Return a document as a list of one, or what a ``kind: List`` has."""
    if top.is_null:
        return []
    items = top.children().get("items")
    return [top] if items is None else items.items() or []


def _scheduler_in(resource: Branch) -> tuple[str, ...]:
    """Where a resource has the scheduler's text; empty if it can't have one."""
    kind = resource.find("kind")
    if kind is None:
        return SCHEDULER if resource.find(*SCHEDULER[:3]) else ()
    if kind.text() == KIND:
        return SCHEDULER
    name = resource.find("metadata", "name") if kind.text() == "ConfigMap" else None
    is_values = name is not None and name.text() == "service-values"
    return ("data", "nova", *SCHEDULER[3:]) if is_values else ()


def _text(found: Branch) -> nova_conf.Text:
    text = found.text()
    if text is None or not found.is_string():
        raise found.bad("is not a text", text)
    if found.is_literal():
        return nova_conf.Text(found.path, text, found.line + 1)
    return nova_conf.Text(found.path, text, found.line, in_one_line=True)


# The configuration room: options to set, written for each kind of deployment.


Values = Mapping[str, Value]


def nova_conf_text(values: Values) -> str:
    """Return options as INI text; nothing for none."""
    sections: dict[str, list[str]] = {}
    for name, value in values.items():
        section, key = section_and_key(name)
        sections.setdefault(section, []).append(f"{key} = {_as_ini(value)}\n")
    return "\n".join(
        f"[{section}]\n{''.join(lines)}" for section, lines in sections.items()
    )


def environment(values: Values, release: int) -> str:
    """Return options as an environment file of TripleO; nothing for none.

    :raises NoParameter: for what no parameter can say
    """
    if not values:
        return ""
    given = dict(_fragment_parameters(values, release))
    return yaml.safe_dump({"parameter_defaults": given}, sort_keys=False)


def control_plane(values: Values, custom_config: str) -> str:
    """Options as a part of RHOSO's control plane; empty if there are none.

    :param custom_config: the scheduler's present customServiceConfig. Merging into
        a control plane replaces that text, so it is kept here. If an option stands
        there twice, oslo.config takes the last
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
        # An empty list is one that nobody gave.
        if option not in names or value == ():
            raise NoParameter(option, value)
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
