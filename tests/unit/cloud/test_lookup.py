"""Flavors as far as Nova shows them to the user."""

import pytest

from osc_traitsched.cloud import lookup
from osc_traitsched.core import errors
from tests.unit.cloud.services import Answering

PUBLIC, PRIVATE = "os-flavor-access:is_public", {"os-flavor-access:is_public": False}


def flavor(name, **more):
    return {"id": name, "name": name, PUBLIC: True, "extra_specs": {}, **more}


class Cloud:
    """A cloud whose flavors its user sees, as an administrator or not."""

    def __init__(self, *flavors, is_admin=True):
        def answer(path, params):
            if "marker" in params:
                return {"flavors": []}
            only_private = is_admin and params["is_public"] == "False"
            found = [each for each in flavors if not (only_private and each[PUBLIC])]
            return {"flavors": found}

        self.compute = Answering(answer)

    def once(self, read):
        return read(self)


def without_specs(name):
    return {key: each for key, each in flavor(name).items() if key != "extra_specs"}


def test_hidden_extra_specs_are_not_taken_for_none():
    cloud = Cloud(without_specs("a"), without_specs("b"), flavor("c"))
    with pytest.raises(errors.ExtraSpecsHidden) as every:
        lookup.flavors(cloud)
    assert (every.value.hidden, every.value.total, every.value.flavor) == (2, 3, None)
    with pytest.raises(errors.ExtraSpecsHidden) as one:
        lookup.flavor(cloud, "b")
    assert one.value.flavor == "b"
    assert lookup.flavor(cloud, "c")["id"] == "c"


@pytest.mark.parametrize(
    "flavors", [[], [flavor("a")], [flavor("a"), flavor("b", **PRIVATE)]]
)
def test_an_administrator_is_shown_all_flavors(flavors):
    assert lookup.lists_private_flavors(Cloud(*flavors))


@pytest.mark.parametrize(
    "flavors", [[flavor("a")], [flavor("a", **PRIVATE), flavor("b")]]
)
def test_who_is_given_public_flavors_for_private_ones_is_not(flavors):
    assert not lookup.lists_private_flavors(Cloud(*flavors, is_admin=False))
