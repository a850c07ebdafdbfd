"""What is wrong with the traits that flavors, images and aggregates name."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check.finding import Severity, SubjectKind
from osc_traitsched.core.check.words import give
from osc_traitsched.core.nova import options
from osc_traitsched.paste import Placeholder, line
from osc_traitsched.text import quoted
from tests.unit.core.check.surveys import (
    aggregate,
    assumed,
    findings,
    flavor,
    host,
    identity,
    ids,
    image,
    survey,
)
from tests.unit.core.check.test_filters import REPORT, with_computes

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
ON = assumed(enable_isolated_aggregate_filtering=True)
AB = (host("a", GOLD), host("b", GOLD))


def only(found):
    """Return the one finding, whatever rules there are."""
    (one,) = found
    return one


def test_what_every_host_has_is_no_finding():
    gold = flavor("f", trait__CUSTOM_GOLD="required")
    assert (
        findings(survey(AB, [gold], [image("i", trait__CUSTOM_GOLD="required")])) == []
    )


# traits-unknown


@pytest.mark.parametrize("value", ["required", "forbidden"])
def test_an_unknown_trait_is_an_error_be_it_forbidden(value):
    named = survey(AB, [flavor("f", trait__CUSTOM_GOLT=value)])
    found = only(f for f in findings(named) if f.rule != "traits-unused")
    assert (found.rule, found.severity) == ("traits-unknown", Severity.ERROR)
    assert (found.name, found.flavors) == ("CUSTOM_GOLT", ("f",))
    assert found.fix == "correct flavor f"
    assert found.problem.endswith("; did you mean CUSTOM_GOLD?")


def test_a_trait_of_no_host_with_the_name_of_another_is_not_given_to_hosts():
    """Somebody created what the flavor misspells."""
    hosts = [host("a", GOLD, "CUSTOM_RACK_1"), host("b")]
    known = {GOLD, "CUSTOM_GLOD", "CUSTOM_RACK_1", "CUSTOM_RACK_2"}
    flavors = [
        flavor("typo", trait__CUSTOM_GLOD="required"),
        flavor("rack", trait__CUSTOM_RACK_2="required"),
    ]
    named = dataclasses.replace(survey(hosts, flavors), known_traits=frozenset(known))
    typo, rack = (f.words() for f in findings(named) if f.rule == "traits-no-host")
    assert typo.problem.endswith("; did you mean CUSTOM_GOLD?")
    assert typo.fix == "correct flavor typo"
    assert line(rack.fix) == "openstack trait-sched add CUSTOM_RACK_2 --host <HOST>"


@pytest.mark.parametrize(
    ("value", "right"),
    [
        ("require", "required"),
        ("requires", "required"),
        ("Required", "required"),
        ("True", "required"),
        ("1", "required"),
        ("forbid", "forbidden"),
        ("forbiden", "forbidden"),
    ],
)
def test_a_value_of_a_trait_is_corrected_to_what_is_meant(value, right):
    named = survey(AB, [flavor("f", trait__CUSTOM_GOLD=value)])
    found = only(f for f in findings(named) if f.rule == "traits-bad-value")
    fix = line(found.words().fix)
    assert fix.startswith(f"openstack flavor set --property trait:CUSTOM_GOLD={right} ")


@pytest.mark.parametrize("value", ["preferred", "no", "unrequired", "not required"])
def test_a_value_of_a_trait_that_could_mean_anything_has_no_command(value):
    named = survey(AB, [flavor("f", trait__CUSTOM_GOLD=value)])
    found = only(f for f in findings(named) if f.rule == "traits-bad-value")
    assert found.words().fix == (
        "set the value to required or forbidden, or remove the key"
    )


@pytest.mark.parametrize(
    ("name", "look"),
    [
        ("COMPUTE_SECURITY_TPM_2_0", "check swtpm and [libvirt]swtpm_enabled"),
        ("COMPUTE_SECURITY_TPM_TIS", "check swtpm and [libvirt]swtpm_enabled"),
        ("COMPUTE_VOLUME_EXTEND", "check libvirt, QEMU"),
        ("CUSTOM_PCI_10DE_20F1", "set [pci]report_in_placement on every compute first"),
    ],
)
def test_what_no_host_reports_is_to_be_looked_for_and_no_key_is_taken_off(name, look):
    fix = give(name)
    assert fix.startswith(look)
    assert "take" not in fix


def test_an_unknown_trait_of_a_group_of_its_own_is_found():
    named = flavor("f", trait_A__CUSTOM_X="required", resources_A__VCPU="1")
    assert ids(survey([host("a")], [named])) == ["traits-unknown"]


def test_an_unknown_trait_that_a_translated_key_asks_for_is_found():
    found = only(
        findings(
            survey([host("a")], [flavor("f", hw__tpm_version="2.0")]), "traits-unknown"
        )[:1]
    )
    assert found.flavors == ("f",)


@pytest.mark.parametrize(
    ("members", "assumptions", "severity"),
    [
        (("a",), ON, Severity.ERROR),
        ((), ON, Severity.WARNING),
        (("a",), assumed(), Severity.WARNING),
    ],
)
def test_an_unknown_trait_of_an_aggregate_is_an_error_if_it_closes_hosts(
    members, assumptions, severity
):
    isolated = aggregate("gold", *members, trait__CUSTOM_GOLT="required")
    of = survey([host("a")], aggregates=[isolated], assumptions=assumptions)
    found = only(findings(of, "traits", "isolation-not-required"))
    assert (found.rule, found.severity) == ("traits-unknown", severity)
    assert found.aggregates == ("gold",)


# traits-malformed


@pytest.mark.parametrize(
    "name", ["CUSTOM_GOLD ", "CUSTOM_\x1b[31mX", "custom_gold", "CUSTOM_", "A,B"]
)
def test_a_name_that_no_trait_can_have_is_an_error_about_the_flavor_alone(name):
    named = flavor("f", **{f"trait:{name}": "forbidden"})
    found = only(findings(survey([host("a")], [named])))
    assert (found.rule, found.severity) == ("traits-malformed", Severity.ERROR)
    assert (found.kind, found.name) == (SubjectKind.FLAVOR, "f")
    assert found.problem.startswith(f"no trait can be named {quoted(name)}: ")
    fix = found.words().fix_line([])
    assert fix.startswith("take the key off: openstack flavor unset --property ")
    assert fix.endswith(" f")


def test_an_image_and_a_group_of_a_flavor_can_name_no_trait_either():
    flavors = [
        flavor("f", trait_A__x="required", resources_A__VCPU="1", trait__x="odd")
    ]
    cloud = survey([host("a")], flavors, [image("i", trait__y="required")])
    found = findings(cloud, "traits-malformed")
    assert [(f.kind.value, line(f.fix)) for f in found] == [
        ("flavor", "openstack flavor unset --property trait_A:x f"),
        ("image", f"openstack image unset --property trait:y {identity('i')}"),
    ]


@pytest.mark.parametrize(
    ("assumptions", "severity"), [(ON, Severity.ERROR), (assumed(), Severity.WARNING)]
)
def test_a_malformed_trait_of_an_aggregate_is_an_error_if_it_closes_hosts(
    assumptions, severity
):
    odd = aggregate("odd", "a", **{"trait:CUSTOM_GOLD!": "required"})
    cloud = survey(AB, aggregates=[odd], assumptions=assumptions)
    found = only(findings(cloud, "traits-unknown", "traits-malformed"))
    assert (found.rule, found.severity) == ("traits-malformed", severity)
    assert found.kind is SubjectKind.AGGREGATE
    assert found.problem.endswith("; did you mean CUSTOM_GOLD?")


# traits-bad-value


@pytest.mark.parametrize(
    ("of", "kind", "pair"),
    [
        (
            survey(AB, [flavor("f", trait__CUSTOM_GOLD="requird")]),
            SubjectKind.FLAVOR,
            "trait:CUSTOM_GOLD=requird",
        ),
        (
            survey(AB, images=[image("i", trait__CUSTOM_GOLD="odd")]),
            SubjectKind.IMAGE,
            "trait:CUSTOM_GOLD=odd",
        ),
        (
            survey(AB, aggregates=[aggregate("g", trait__CUSTOM_GOLD="forbidden")]),
            SubjectKind.AGGREGATE,
            "trait:CUSTOM_GOLD=forbidden",
        ),
    ],
)
def test_a_value_that_nova_ignores_is_an_error(of, kind, pair):
    found = only(findings(of))
    assert (found.rule, found.severity) == ("traits-bad-value", Severity.ERROR)
    assert found.kind is kind
    assert found.problem.startswith(f"Nova ignores {pair}: the value can only be ")


def test_a_trait_that_an_image_forbids_is_a_warning_for_it_boots():
    of = survey(AB, images=[image("i", trait__CUSTOM_GOLD="forbidden")])
    found = only(findings(of))
    assert (found.rule, found.severity) == ("traits-bad-value", Severity.WARNING)


@pytest.mark.parametrize("collation", ["case-insensitive", "case-sensitive"])
def test_a_value_that_only_some_databases_ignore_works_by_luck(collation):
    metadata = {
        "trait__CUSTOM_GOLD": "Required",
        "Trait__CUSTOM_SILVER": "required ",
        "trait__CUSTOM_X": "requird",
    }
    assumptions = ON.changed(options.COLLATION, collation)
    cloud = survey(AB, aggregates=[aggregate("g", **metadata)], assumptions=assumptions)
    ignored, by_luck = findings(cloud, "traits-bad-value")
    assert (ignored.severity, ignored.problem) == (
        Severity.ERROR,
        "Nova ignores trait:CUSTOM_X=requird: the value can only be required",
    )
    assert (by_luck.severity, by_luck.problem) == (
        Severity.WARNING,
        "MariaDB and MySQL take trait:CUSTOM_GOLD=Required, "
        "Trait:CUSTOM_SILVER=required  for required, other databases ignore it",
    )


def test_what_mariadb_takes_for_required_is_not_to_be_unset():
    odd = aggregate("g", trait__CUSTOM_GOLD="Required")
    words = only(findings(survey(AB, aggregates=[odd]), "traits-bad-value")).words()
    assert words.problem == (
        "MariaDB and MySQL take trait:CUSTOM_GOLD=Required for required, other "
        "databases ignore it"
    )
    assert words.fix_line([]) == (
        "openstack aggregate set --property trait:CUSTOM_GOLD=required g"
    )


@pytest.mark.parametrize(("name", "meant"), [("10", "2"), ("-", "-"), ("a\nb", "3")])
def test_an_aggregate_s_command_has_its_id_if_its_name_would_not_do(name, meant):
    odd = aggregate(name, "a", trait__CUSTOM_GOLD="requird", weight_multiplier="1")
    cloud = survey([host("a"), host("10")], aggregates=[odd])
    for rule in ("traits-bad-value", "weighers-key-off"):
        (finding,) = findings(cloud, rule)
        assert meant in finding.words().fix.parts
        assert (finding.words().fix.parts[-1] == name) is (meant == name)


def test_a_host_is_taken_out_of_an_aggregate_by_its_id_if_its_name_is_a_number():
    pair = [
        aggregate("10", "a", trait__CUSTOM_GOLD="required"),
        aggregate("x", "a", trait__CUSTOM_SILVER="required"),
    ]
    hosts = [host("a", GOLD, SILVER)]
    wants = [flavor(n, **{f"trait__{n}": "required"}) for n in (GOLD, SILVER)]
    cloud = survey(hosts, wants, aggregates=pair, assumptions=ON)
    fix = only(findings(cloud, "isolation-overlap")).words().fix
    assert fix.parts == ("2", Placeholder("HOST"))


@pytest.mark.parametrize(
    ("collation", "malformed"),
    [("case-insensitive", []), ("case-sensitive", ["traits-malformed"])],
)
def test_a_known_trait_in_small_letters_is_none_where_case_counts(collation, malformed):
    small = aggregate("g", "a", trait__custom_gold="required")
    cloud = survey(
        AB,
        aggregates=[small],
        assumptions=ON.changed(options.COLLATION, collation),
    )
    assert ids(cloud, "traits-unknown", "traits-malformed") == malformed


# traits-no-host


def test_a_required_trait_that_no_host_has_is_an_error():
    gold = flavor("f", trait__CUSTOM_GOLD="required")
    of = survey(
        [host("a")], [gold], [image("i", trait__CUSTOM_GOLD="required")], known=[GOLD]
    )
    found = only(findings(of))
    assert (found.rule, found.severity) == ("traits-no-host", Severity.ERROR)
    assert (found.flavors, found.images) == (("f",), ("i",))


def test_a_forbidden_trait_that_no_host_has_is_no_finding():
    gold = flavor("f", trait__CUSTOM_GOLD="forbidden")
    assert ids(survey([host("a")], [gold], known=[GOLD])) == []


def test_a_trait_of_a_nested_provider_counts():
    child = {"a_child": (frozenset({GOLD}), {"CUSTOM_DISK": 1})}
    gold = flavor("f", trait__CUSTOM_GOLD="required", resources__CUSTOM_DISK="1")
    assert ids(survey([host("a", children=child)], [gold])) == []


def test_an_image_property_asks_for_its_trait_where_the_option_is_on():
    trait = "COMPUTE_GRAPHICS_MODEL_VIRTIO"
    images = [image("i", hw_video_model="virtio")]
    on = assumed(image_metadata_prefilter=True)
    of = survey([host("a")], images=images, known=[trait], assumptions=on)
    found = only(findings(of))
    assert found.rule == "traits-no-host"
    assert found.problem.startswith("no host's root provider has it")
    off = survey([host("a")], images=images, known=[trait])
    assert ids(off, "traits") == []


def test_an_image_can_choose_another_model_than_a_flavor_asks_for_alone():
    # Nothing but the pair names the trait of the other model.
    version, model = "COMPUTE_SECURITY_TPM_2_0", "COMPUTE_SECURITY_TPM_CRB"
    hosts = [host("a", version), host("b", version, model)]
    flavors = [flavor("f", hw__tpm_version="2.0")]
    more = {"known": ["COMPUTE_SECURITY_TPM_TIS"], "assumptions": assumed(32)}
    assert ids(survey(hosts, flavors, **more)) == ["traits-no-host"]
    images = [image("i", hw_tpm_model="tpm-crb")]
    assert ids(survey(hosts, flavors, images, **more)) == []


# traits-few-hosts


def test_hosts_that_a_trait_leaves_are_counted_among_those_large_enough():
    hosts = [host("a", GOLD), host("b"), host("tiny", size={"MEMORY_MB": 100})]
    found = only(findings(survey(hosts, [flavor("f", trait__CUSTOM_GOLD="required")])))
    assert (found.rule, found.severity) == ("traits-few-hosts", Severity.NOTE)
    assert found.hosts == ("a",)
    assert found.problem == f"{GOLD}: leaves 1 of the 2 hosts that are large enough: a"


def test_a_trait_that_only_too_small_hosts_have_is_an_error():
    hosts = [host("a"), host("tiny", GOLD, size={"VCPU": 1, "MEMORY_MB": 100})]
    found = only(findings(survey(hosts, [flavor("f", trait__CUSTOM_GOLD="required")])))
    assert (found.rule, found.severity) == ("traits-few-hosts", Severity.ERROR)
    assert found.hosts == ()
    assert found.problem == f"{GOLD}: leaves none of the 1 hosts that are large enough"


def test_a_trait_that_all_hosts_have_and_a_flavor_forbids_is_an_error():
    found = only(findings(survey(AB, [flavor("f", trait__CUSTOM_GOLD="forbidden")])))
    assert (found.rule, found.severity) == ("traits-few-hosts", Severity.ERROR)
    assert found.problem.startswith(f"not {GOLD}: leaves none of the 2 hosts ")


def test_a_full_host_with_the_trait_may_take_the_flavor():
    hosts = [host("a"), host("full", GOLD, size=None)]
    found = only(findings(survey(hosts, [flavor("f", trait__CUSTOM_GOLD="required")])))
    assert (found.severity, found.hosts) == (Severity.NOTE, ("full",))


def test_the_trait_of_an_isolated_aggregate_is_meant_for_few_hosts():
    isolated = aggregate("g", "a", trait__CUSTOM_GOLD="required")
    gold = [flavor("f", trait__CUSTOM_GOLD="required")]
    of = survey(
        [host("a", GOLD), host("b")], gold, aggregates=[isolated], assumptions=ON
    )
    assert ids(of) == []


def test_pinned_cpus_that_only_an_image_asks_for_may_find_hosts():
    pinning = host("p", GOLD, size={"PCPU": 8, "MEMORY_MB": 8192, "DISK_GB": 10})
    gold = flavor("f", trait__CUSTOM_GOLD="required")
    assert ids(survey([host("a"), pinning], [gold])) == []


def test_a_shared_disk_may_have_the_trait():
    # The flavor's traits can be those of the pool that the disk comes from.
    pool = host("pool", GOLD, "MISC_SHARES_VIA_AGGREGATE", size={"DISK_GB": 100})
    node = host("a", size={"VCPU": 8, "MEMORY_MB": 8192})
    of = survey([node, pool], [flavor("f", trait__CUSTOM_GOLD="required")])
    sharing = frozenset({of.snapshot.by_name["pool"].uuid})
    members = {uuid: frozenset(of.snapshot.by_uuid) for uuid in sharing}
    shared = {
        **{name: getattr(of, name) for name in ("flavors", "traits", "known_traits")},
        "stock": of.stock,
    }
    snapshot = type(of.snapshot)(of.snapshot.providers, sharing, of.nova)
    of = type(of)(snapshot, of.assumptions, shared=members, **shared)
    assert ids(of, "traits") == []


# traits-not-together


def test_traits_of_different_hosts_are_an_error_though_each_is_there():
    hosts = [host("a", GOLD), host("b", SILVER)]
    both = {"trait__CUSTOM_GOLD": "required", "trait__CUSTOM_SILVER": "required"}
    found = only(findings(survey(hosts, [flavor("f", **both)])))
    assert (found.rule, found.severity) == ("traits-not-together", Severity.ERROR)
    assert found.problem.endswith(f": {GOLD} and {SILVER}")
    found = only(findings(survey(hosts, images=[image("i", **both)])))
    assert (found.rule, found.kind) == ("traits-not-together", SubjectKind.IMAGE)


def test_an_image_whose_hosts_are_not_the_flavors_is_a_note():
    hosts = [host("a", GOLD), host("b", SILVER)]
    flavors = [flavor("f", trait__CUSTOM_GOLD="required")]
    images = [image("i", trait__CUSTOM_SILVER="required")]
    of = survey(hosts, flavors, images)
    found = only(findings(of, "traits-not-together"))
    assert (found.severity, found.name) == (Severity.NOTE, "i")
    assert found.flavors == ("f",)


def test_providers_of_one_tree_have_the_traits_between_them():
    child = {"a_child": (frozenset({SILVER}), {"CUSTOM_DISK": 1})}
    both = flavor(
        "f",
        trait__CUSTOM_GOLD="required",
        trait__CUSTOM_SILVER="required",
        resources__CUSTOM_DISK="1",
    )
    assert ids(survey([host("a", GOLD, children=child)], [both])) == []


# traits-contradiction


def test_a_trait_that_one_flavor_requires_and_forbids_is_an_error():
    tpm = "COMPUTE_SECURITY_TPM_2_0"
    specs = {"hw__tpm_version": "2.0", f"trait__{tpm}": "forbidden"}
    hosts = [
        host(
            "a",
            tpm,
            "COMPUTE_SECURITY_TPM_TIS",
            "COMPUTE_SECURITY_TPM_SECRET_SECURITY_USER",
        ),
        host("b"),
    ]
    found = only(findings(survey(hosts, [flavor("f", **specs)])))
    assert (found.rule, found.severity) == ("traits-contradiction", Severity.ERROR)
    assert found.problem.startswith(f"requires and forbids {tpm}: ")


def test_an_image_that_requires_what_a_flavor_forbids_is_a_note():
    flavors = [flavor("f", trait__CUSTOM_GOLD="forbidden"), flavor("g")]
    images = [image("i", trait__CUSTOM_GOLD="required")]
    found = only(
        findings(survey([host("a", GOLD), host("b")], flavors, images), "traits")
    )
    assert (found.rule, found.severity) == ("traits-contradiction", Severity.NOTE)
    assert (found.name, found.flavors) == ("i", ("f",))


def test_groups_of_their_own_do_not_contradict_each_other():
    specs = {
        "trait1__CUSTOM_GOLD": "required",
        "resources1__CUSTOM_DISK": "1",
        "trait__CUSTOM_GOLD": "forbidden",
    }
    child = {"a_child": (frozenset({GOLD}), {"CUSTOM_DISK": 1})}
    assert ids(survey([host("a", children=child)], [flavor("f", **specs)])) == []


# traits-refused


def test_a_flavor_that_nova_refuses_with_every_image_is_an_error():
    of = survey([host("a")], [flavor("f", hw__cpu_policy="often")], [image("i")])
    found = only(findings(of))
    assert (found.rule, found.severity) == ("traits-refused", Severity.ERROR)
    assert found.kind is SubjectKind.FLAVOR
    assert "hw:cpu_policy" in found.problem


def test_a_flavor_that_some_image_makes_possible_is_no_finding():
    flavors = [flavor("f", {"vcpus": 2}, hw__cpu_thread_policy="prefer")]
    assert ids(survey([host("a")], flavors)) == ["traits-refused"]
    images = [image("i", hw_cpu_policy="dedicated")]
    assert ids(survey([host("a")], flavors, images), "traits-refused") == []


@pytest.mark.parametrize(
    "specs",
    [
        {"hw:numa_nodes": "3"},
        {"hw:numa_cpus.0": "0", "hw:numa_nodes": "1"},
        {"hw:mem_page_size": "some"},
        {"hw:cpu_dedicated_mask": "0", "hw:cpu_policy": "dedicated"},
        {"hw:cpu_policy": "dedicated", "resources:PCPU": "2"},
        {"hw:pci_numa_affinity_policy": "often"},
        {"pci_passthrough:alias": "gpu"},
    ],
    ids=" ".join,
)
def test_keys_of_one_flavor_that_contradict_each_other_are_an_error(specs):
    flavors = [flavor("f", {"vcpus": 2}, **specs)]
    found = only(findings(survey([host("a")], flavors, [image("i")])))
    assert (found.rule, found.name) == ("traits-refused", "f")
    assert any(key in found.problem for key in specs)


def test_a_flavor_that_nova_refuses_only_where_there_is_an_image_is_an_error():
    flavors = [flavor("f", hw__cpu_max_sockets="some")]
    found = only(findings(survey([host("a")], flavors, [image("i")])))
    assert (found.rule, found.severity) == ("traits-refused", Severity.ERROR)
    assert found.kind is SubjectKind.FLAVOR
    assert "hw:cpu_max_sockets" in found.problem


def test_an_image_that_nova_refuses_with_every_flavor_is_an_error():
    images = [image("i", hw_disk_bus="floppy")]
    found = only(findings(survey([host("a")], [flavor("f")], images)))
    assert (found.rule, found.severity) == ("traits-refused", Severity.ERROR)
    assert (found.kind, found.name) == (SubjectKind.IMAGE, "i")


def test_a_flavor_and_an_image_that_contradict_each_other_are_a_note():
    flavors = [
        flavor("pinned", hw__cpu_thread_policy="isolate", hw__cpu_policy="dedicated"),
        flavor("shared", hw__cpu_policy="shared"),
        flavor("shared-too", {"ram": 1024}, hw__cpu_policy="shared"),
        flavor("plain"),
    ]
    images = [image("i", hw_cpu_policy="dedicated")]
    of = survey([host("a")], flavors, images, known=["HW_CPU_HYPERTHREADING"])
    found = only(findings(of, "traits"))
    assert (found.rule, found.severity) == ("traits-refused", Severity.NOTE)
    assert (found.name, found.flavors) == ("i", ("shared", "shared-too"))


def test_an_image_that_needs_a_larger_flavor_is_no_contradiction():
    images = [{**image("i"), "min_ram": 4096, "min_disk": 40}]
    flavors = [flavor("f", hw__cpu_policy="shared")]
    assert ids(survey([host("a")], flavors, images), "traits") == []


# traits-unused


def test_a_custom_trait_that_nothing_names_is_a_note_with_the_hosts_that_have_it():
    of = survey([host("a", GOLD), host("b")], known=[SILVER])
    found = findings(of)
    assert [(each.rule, each.name) for each in found] == [
        ("traits-unused", GOLD),
        ("traits-unused", SILVER),
    ]
    assert [each.hosts for each in found] == [("a",), ()]


@pytest.mark.parametrize(
    "named",
    [
        {
            "flavors": [
                flavor("f", trait2__CUSTOM_GOLD="forbidden", resources2__VCPU="1")
            ]
        },
        {"images": [image("i", trait__CUSTOM_GOLD="required")]},
        {"aggregates": [aggregate("g", "a", "b", trait__CUSTOM_GOLD="required")]},
    ],
)
def test_a_custom_trait_that_something_names_is_used(named):
    assert "traits-unused" not in ids(survey(AB, **named))


def test_the_traits_of_other_services_providers_are_theirs():
    child = {"a_child": (frozenset({"CUSTOM_PHYSNET_1"}), {})}
    assert ids(survey([host("a", children=child)])) == []


def test_the_traits_of_a_node_of_ironic_are_ironics():
    report = dataclasses.replace(REPORT, hypervisor_type="ironic")
    of = survey([host("a", GOLD), host("b")])
    assert ids(of, "traits-unused") == ["traits-unused"]
    of = with_computes(of, lambda node: {"report": report} if node.node == "a" else {})
    assert ids(of, "traits-unused") == []
