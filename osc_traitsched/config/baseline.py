"""The configuration room: what a distribution sets before anybody else does."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Value
from osc_traitsched.core.nova.settings import Setting

UPSTREAM, TRIPLEO, RHOSO = "upstream", "tripleo", "rhoso"
KOLLA, OSA, CHARMED = "kolla-ansible", "openstack-ansible", "charmed"

#: Of OpenStack-Ansible, from Yoga on.
_OSA_FILTERS = (
    "ComputeFilter",
    "AggregateNumInstancesFilter",
    "AggregateIoOpsFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
    "NUMATopologyFilter",
)

#: Of the charm, from 2023.2 on.
_CHARMED_FILTERS = (
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
    "DifferentHostFilter",
    "SameHostFilter",
)

_ZONE = "AvailabilityZoneFilter"

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
        options.SHUFFLE: True,
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
    # openstack/kolla-ansible, ansible/roles/nova/templates/nova.conf.j2: it sets none
    # of these, unless Blazar or the fake driver is enabled.
    KOLLA: {},
    # openstack/openstack-ansible-os_nova, defaults/main.yml; from Wallaby on the subset
    # is 30 % of the hosts, and 10 at most.
    OSA: {
        options.ENABLED_FILTERS: (_ZONE, *_OSA_FILTERS),
        options.HOST_SUBSET_SIZE: 10,
        options.RAM: 5.0,
        options.MAX_IO_OPS: 10,
    },
    # openstack/charm-nova-cloud-controller, hooks/nova_cc_context.py
    CHARMED: {
        options.ENABLED_FILTERS: ("RetryFilter", _ZONE, *_CHARMED_FILTERS),
        options.BUILD_FAILURE: 0.0,
    },
}

#: What is otherwise from a release of Nova on, the oldest first.
_LATER: Mapping[str, tuple[tuple[int, Mapping[str, Value]], ...]] = {
    OSA: (
        (25, {options.ENABLED_FILTERS: _OSA_FILTERS}),
        (29, {options.RAM: 1.0}),
    ),
    CHARMED: (
        (22, {options.ENABLED_FILTERS: (_ZONE, *_CHARMED_FILTERS)}),
        (28, {options.ENABLED_FILTERS: _CHARMED_FILTERS}),
    ),
}

NAMES = tuple(_BASELINES)


def settings(name: str, release: int) -> Mapping[str, Setting]:
    """Return the settings of one of :data:`NAMES` in a release; nobody gave them."""
    values = dict(_BASELINES[name])
    for first, changed in _LATER.get(name, ()):
        if first <= release:
            values.update(changed)
    source = f"the baseline {name}"
    return {option: Setting(value, source) for option, value in values.items()}
