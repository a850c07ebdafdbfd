"""The configuration room: options to set, written for each kind of deployment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import yaml

from osc_traitsched.config import rhoso, tripleo
from osc_traitsched.config.nova_conf import section_and_key
from osc_traitsched.core.errors import NoParameter
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Value

Values = Mapping[str, Value]


def nova_conf(values: Values) -> str:
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
    given = dict(_parameters(values, release))
    return yaml.safe_dump({"parameter_defaults": given}, sort_keys=False)


def control_plane(values: Values, custom_config: str) -> str:
    """Return options as a part of RHOSO's control plane; nothing for none at all.

    :param custom_config: the scheduler's customServiceConfig that there is. What
        is merged into a control plane replaces that text, so it is kept here; of
        an option that then stands there twice, oslo.config takes the last
    """
    text = "\n".join(filter(None, (_kept(custom_config), nova_conf(values))))
    if not text:
        return ""
    *above, last = rhoso.SCHEDULER
    below: dict[str, object] = {last: _Block(text)}
    for key in reversed(above):
        below = {key: below}
    head = {"apiVersion": rhoso.API_VERSION, "kind": rhoso.KIND}
    return yaml.dump({**head, **below}, Dumper=_Dumper, sort_keys=False)


def _as_ini(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _parameters(
    values: Values, release: int
) -> Iterator[tuple[str, Value | list[str]]]:
    names = {option: parameter for parameter, option in tripleo.PARAMETERS.items()}
    names[options.ENABLED_FILTERS] = tripleo.filters_parameter(release)
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
