"""Neutron, Cinder and Cyborg as a case has them, and Placement's segments.

Each gives the bodies of its API; what is made of them is Nova's own.
"""

import types

try:
    from nova.network import neutron
except ImportError:
    # So it is called in 20.
    from nova.network.neutronv2 import api as neutron

#: The case at hand.
case = {}

# By their aliases; up to 24 Nova goes by the names.
_EXTENSIONS = {
    "port-resource-request": "Port Resource Request",
    "segment": "Segment",
}
_GROUPS = {"port-resource-request-groups": "Port Resource Request Groups"}


class _Client:
    """What Nova asks of python-neutronclient."""

    def list_extensions(self, *_, **__):
        asked = [port.get("resource_request") or {} for port in case["ports"]]
        known = dict(_EXTENSIONS)
        if any("request_groups" in each for each in asked):
            known.update(_GROUPS)
        found = [{"alias": alias, "name": name} for alias, name in known.items()]
        return {"extensions": found}

    def show_port(self, port_id, *_, **__):
        (found,) = (each for each in case["ports"] if each["id"] == port_id)
        return {"port": found}

    def show_network(self, network_id, *_, **__):
        (found,) = (each for each in case["networks"] if each["id"] == network_id)
        return {"network": found}

    def list_networks(self, *_, **wanted):
        shared = wanted.get("shared")
        # Of a user's networks there is one, unless some are named.
        ids = wanted.get("id") or [each["id"] for each in case["networks"][:1]]
        found = [each for each in case["networks"] if each["id"] in ids]
        return {"networks": [] if shared else found}

    def show_quota(self, *_, **__):
        return {"quota": {"port": -1}}

    def list_subnets(self, *_, **wanted):
        network = wanted["network_id"]
        return {"subnets": [s for s in case["subnets"] if s["network_id"] == network]}

    def show_subnet(self, subnet_id, *_, **__):
        (found,) = (each for each in case["subnets"] if each["id"] == subnet_id)
        return {"subnet": found}


class _Report:
    """What Nova asks of Placement about segments."""

    def _get_provider_aggregates(self, context, segment):
        if segment not in case["segments"]:
            return None
        return types.SimpleNamespace(aggregates=set(case["segments"][segment]))


def connect():
    """Put the client in the place of the real one."""
    neutron.get_client = lambda *_, **__: _Client()
    from nova.scheduler import request_filter

    if hasattr(request_filter, "report"):
        request_filter.report.report_client_singleton = _Report
        request_filter.report.SchedulerReportClient = _Report


def volume(volume_id):
    """Return one of the case's volumes, as nova/volume/cinder.py does."""
    (body,) = (each for each in case["volumes"] if each["id"] == volume_id)
    return {
        "id": body["id"],
        "status": body["status"],
        "size": body["size"],
        "availability_zone": body["availability_zone"],
        "bootable": body["bootable"] == "true",
        "multiattach": body["multiattach"],
        "volume_image_metadata": dict(body.get("volume_image_metadata", {})),
    }


def device_profiles(name):
    """Return those that Cyborg lists; one that the case has not asks for nothing."""
    groups = case["device_profiles"].get(name, [])
    return [] if groups is None else [{"name": name, "groups": groups}]
