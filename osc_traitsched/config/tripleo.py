"""The configuration room: the environment files of a TripleO deployment.

The parameters of a role alone, hieradata (ExtraConfig) and merge strategies
are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from osc_traitsched.config import document
from osc_traitsched.config.document import Branch
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Value
from osc_traitsched.core.nova.settings import Setting

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
    given: dict[str, Branch] = {}
    for path in paths:
        given.update(_parameters(path))
    # To Heat, a parameter that is null is one that nobody gave.
    given = {name: value for name, value in given.items() if not value.is_null}
    found = {
        option: _setting(parameter, given[parameter], _boolean(given[parameter]))
        for parameter, option in PARAMETERS.items()
        if parameter in given
    }
    for parameter in FILTERS:
        filters = _list(given[parameter]) if parameter in given else ()
        if filters:
            made = _setting(parameter, given[parameter], filters)
            found.setdefault(options.ENABLED_FILTERS, made)
    return found


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
