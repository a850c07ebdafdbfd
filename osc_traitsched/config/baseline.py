"""The configuration room: what a distribution sets before anybody else does."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.nova import assumption
from osc_traitsched.core.nova.assumption import Setting, Value

UPSTREAM, TRIPLEO, RHOSO = "upstream", "tripleo", "rhoso"

_BASELINES: Mapping[str, Mapping[str, Value]] = {
    UPSTREAM: {},
    # tripleo-heat-templates, deployment/nova/nova-scheduler-container-puppet.yaml
    TRIPLEO: {
        assumption.IMAGE_TYPE: True,
        assumption.ISOLATION: False,
        assumption.TENANT: False,
        assumption.TENANT_REQUIRED: False,
        assumption.AZ_QUERY: False,
        assumption.ROUTED_NETWORKS: False,
    },
    # openstack-k8s-operators/nova-operator, templates/nova/nova.conf
    RHOSO: {
        assumption.ISOLATION: True,
        assumption.TENANT: True,
        assumption.TENANT_REQUIRED: False,
        assumption.AZ_QUERY: True,
        assumption.IMAGE_TYPE: True,
        assumption.IMAGE_METADATA: True,
        assumption.ROUTED_NETWORKS: True,
        assumption.NO_PCPU_FALLBACK: True,
        assumption.ENABLED_FILTERS: (
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
