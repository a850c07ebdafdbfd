"""The configuration room: what a distribution sets before anybody else does."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.option import Value
from osc_traitsched.core.nova.settings import Setting

UPSTREAM, TRIPLEO, RHOSO = "upstream", "tripleo", "rhoso"

_BASELINES: Mapping[str, Mapping[str, Value]] = {
    UPSTREAM: {},
    # tripleo-heat-templates, deployment/nova/nova-scheduler-container-puppet.yaml
    TRIPLEO: {
        options.IMAGE_TYPE: True,
        options.ISOLATION: False,
        options.TENANT: False,
        options.TENANT_REQUIRED: False,
        options.AZ_QUERY: False,
        options.ROUTED_NETWORKS: False,
    },
    # openstack-k8s-operators/nova-operator, templates/nova/nova.conf
    RHOSO: {
        options.ISOLATION: True,
        options.TENANT: True,
        options.TENANT_REQUIRED: False,
        options.AZ_QUERY: True,
        options.IMAGE_TYPE: True,
        options.IMAGE_METADATA: True,
        options.ROUTED_NETWORKS: True,
        options.NO_PCPU_FALLBACK: True,
        options.ENABLED_FILTERS: (
            "AggregateInstanceExtraSpecsFilter",
            "ComputeFilter",
            "ComputeCapabilitiesFilter",
            "ImagePropertiesFilter",
            "ServerGroupAntiAffinityFilter",
            "ServerGroupAffinityFilter",
            "SameHostFilter",
            "DifferentHostFilter",
            "PciPassthroughFilter",
            "NUMATopologyFilter",
        ),
    },
}

NAMES = tuple(_BASELINES)


def settings(name: str) -> Mapping[str, Setting]:
    """Return the settings of one of :data:`NAMES`; nobody gave them."""
    source = f"the baseline {name}"
    return {
        option: Setting(value, source) for option, value in _BASELINES[name].items()
    }
