"""Two clouds have no name in common, however alike they are built."""

from __future__ import annotations

import types

import pytest
from keystoneauth1 import access, session, token_endpoint
from keystoneauth1.identity import v3
from openstack.config import cloud_region

from osc_traitsched.commands.base import name_of

INTERNAL = "http://controller:8778"


class LoggedIn(v3.Token):
    """Has a catalog with Placement in two regions; nobody is asked for it."""

    def __init__(self, *ids):
        super().__init__("http://controller:5000/v3", "token")
        endpoints = [
            {
                "id": f"{identity}-{interface}",
                "interface": interface,
                "region": region,
                "region_id": region,
                "url": f"{INTERNAL}/",
            }
            for identity, region in zip(ids, ("one", "two"))
            for interface in ("public", "internal")
        ]
        service = {"id": "s", "type": "placement", "name": "p", "endpoints": endpoints}
        self._body = {"token": {"catalog": [service]}}

    def get_access(self, session, **kwargs):
        return access.AccessInfoV3(self._body, "token")


def named(auth, **config):
    region = cloud_region.from_session(
        session.Session(auth),
        region_name=config.pop("region_name", "one"),
        interface="internal",
        **config,
    )
    return name_of(types.SimpleNamespace(config=region))


def test_clouds_of_the_same_addresses_differ_by_what_keystone_made():
    assert named(LoggedIn("a")) == f"{INTERNAL} a-internal"
    assert named(LoggedIn("b")) == f"{INTERNAL} b-internal"
    assert named(LoggedIn("a", "b"), region_name="two") == f"{INTERNAL} b-internal"


@pytest.mark.parametrize(("ids", "said"), [(("a",), " a-internal"), ((), "")])
def test_it_is_where_writes_go_whatever_the_catalog_says(ids, said):
    elsewhere = "http://elsewhere/placement"
    found = named(LoggedIn(*ids), placement_endpoint_override=elsewhere)
    assert found == f"{elsewhere}{said}"


def test_without_a_keystone_there_is_an_address_alone():
    assert named(token_endpoint.Token(f"{INTERNAL}/", "admin")) == INTERNAL
