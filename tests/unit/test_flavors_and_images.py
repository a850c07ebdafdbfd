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


def test_extra_specs_named_like_sizes_do_not_hide_the_sizes(asked):
    def change(document):
        flavor(document, "m1.large")["extra_specs"] = {"ram": "no", "disk": "80"}

    command = "flavor show m1.large m1.small"
    found = asked(change, f"{command} -f json").json["differences"]
    assert [tuple(row.values()) for row in found] == [
        ("vcpus", False, ["4", "1"]),
        ("ram", False, ["8192", "2048"]),
        ("disk", False, ["80", "20"]),
        ("ram", True, ["no", None]),
        ("disk", True, ["80", None]),
    ]
    said = [line.split() for line in asked(change, command).out.splitlines()]
    assert ["ram", "8192", "2048"] in said
    assert ["ram", "(extra", "spec)", "no", "-"] in said
