"""The configuration room: what a distribution sets before anybody else does."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import CHARMED, OPTIONS, OSA
from osc_traitsched.core.nova.settings import Setting

UPSTREAM, KOLLA = "upstream", "kolla-ansible"
TRIPLEO, RHOSO = options.TRIPLEO, options.RHOSO

#: The rows of options have what they set: as tripleo-heat-templates in
#: deployment/nova/nova-scheduler-container-puppet.yaml, nova-operator of
#: openstack-k8s-operators in templates/nova/nova.conf, openstack-ansible-os_nova in
#: defaults/main.yml, and charm-nova-cloud-controller in hooks/nova_cc_context.py.
#: kolla-ansible sets none of these, unless Blazar or the fake driver is enabled.
NAMES = (UPSTREAM, TRIPLEO, RHOSO, KOLLA, OSA, CHARMED)


def settings(name: str, release: int) -> Mapping[str, Setting]:
    """The settings of one of :data:`NAMES` in a release; nobody gave them."""
    source = f"the baseline {name}"
    return {
        row.name: Setting(value, source)
        for row in OPTIONS.values()
        for distribution, first, value in row.baselines
        if distribution == name and first <= release
    }
