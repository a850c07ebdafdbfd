"""What Placement and Nova list becomes a snapshot, or an error that names them."""

import pytest

from osc_traitsched.cloud import read
from osc_traitsched.core.errors import CloudBroke
from tests.unit.cloud.services import Answering

HOST, DEVICE, MISSING = "a", "b", "c"


def placement(root, parent):
    """Return a Placement with a host, and a device at this place of a tree."""

    def answer(path, params):
        listed = [provider(HOST, HOST, None), provider(DEVICE, root, parent)]
        return {"resource_providers": [] if params else listed}

    return Answering(answer, "placement")


def provider(uuid, root, parent):
    return {
        "uuid": uuid,
        "name": f"name-{uuid}",
        "generation": 1,
        "root_provider_uuid": root,
        "parent_provider_uuid": parent,
    }


def test_a_provider_of_a_listed_tree_is_taken():
    found = read.providers(placement(HOST, HOST))
    assert [each.uuid for each in found.providers] == [HOST, DEVICE]


@pytest.mark.parametrize(("root", "parent"), [(MISSING, HOST), (HOST, MISSING)])
def test_a_tree_of_which_a_provider_is_not_listed_is_an_error(root, parent):
    with pytest.raises(CloudBroke) as caught:
        read.providers(placement(root, parent))
    assert caught.value.reason == (
        "unexpected answer to GET /resource_providers: the tree of name-b lacks c"
    )
