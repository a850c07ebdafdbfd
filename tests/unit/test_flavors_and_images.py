"""``flavor show`` and ``image show`` on the sample cloud, changed."""

from __future__ import annotations


def flavor(document, name):
    return next(f for f in document["compute"]["flavors"] if f["name"] == name)


# Flavors side by side.


def test_an_id_that_is_the_name_of_another_flavor_stays_an_id(asked):
    def change(document):
        flavor(document, "m1.small").update(id="1", name="2")
        flavor(document, "m1.medium").update(id="2")

    done = asked(change, "flavor show 1 2")
    assert done.out.splitlines()[1] == "2, m1.medium: 3 differences."
