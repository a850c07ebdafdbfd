"""What is wrong with the traits that flavors, images and aggregates name."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check.rule import give
from osc_traitsched.core.nova import options
from osc_traitsched.paste import Placeholder
from osc_traitsched.text import quoted
from tests.unit.core.check.surveys import (
    aggregate,
    assert_told,
    assumed,
    findings,
    flavor,
    host,
    image,
    survey,
    told,
)
from tests.unit.core.check.test_filters import with_computes
from tests.unit.core.filter.asked import REPORT

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
ON = assumed(enable_isolated_aggregate_filtering=True)
AB, A_OR_B = "a CUSTOM_GOLD; b CUSTOM_GOLD", "a CUSTOM_GOLD; b CUSTOM_SILVER"
DISK = {"CUSTOM_DISK": 1}


def collated(collation, aggregates, assumptions=ON, hosts=AB):
    assumptions = assumptions.changed(options.COLLATION, collation)
    return survey(hosts, aggregates=aggregates, assumptions=assumptions)


def with_child(specs, *traits, root="", size=DISK):
    """A host with a nested provider, and a flavor."""
    hosts = [host("a", *root.split(), children={"a_child": (frozenset(traits), size)})]
    return survey(hosts, f"f {specs}" if specs else ())


def of_shared_disk():
    """The flavor's traits can be those of the pool that the disk comes from."""
    pool = host("pool", GOLD, "MISC_SHARES_VIA_AGGREGATE", size={"DISK_GB": 100})
    node = host("a", size={"VCPU": 8, "MEMORY_MB": 8192})
    of = survey([node, pool], NEEDS_GOLD)
    sharing = frozenset({of.snapshot.by_name["pool"].uuid})
    members = {uuid: frozenset(of.snapshot.by_uuid) for uuid in sharing}
    snapshot = type(of.snapshot)(of.snapshot.providers, sharing, of.nova)
    more = {"snapshot": snapshot, "shared": members, "members": {}}
    return dataclasses.replace(of, **more), "traits"


def of_ironic(hosts):
    ironic = {"report": dataclasses.replace(REPORT, hypervisor_type="ironic")}
    of = survey(hosts)
    return with_computes(of, lambda c: ironic if c.node == "a" else {}), "traits-unused"


TPM, TIS, CRB = (f"COMPUTE_SECURITY_TPM_{name}" for name in ("2_0", "TIS", "CRB"))
TPM_HOSTS = f"a {TPM} {TIS} COMPUTE_SECURITY_TPM_SECRET_SECURITY_USER; b"
VIRTIO = {"images": "i hw_video_model=virtio"}
MODEL = {**VIRTIO, "known": ["COMPUTE_GRAPHICS_MODEL_VIRTIO"]}
TPM_KNOWN = {"known": [TIS], "assumptions": assumed(32)}
LUCK = {"trait:CUSTOM_GOLD": "Required", "Trait:CUSTOM_SILVER": "required "}
METADATA = assumed(image_metadata_prefilter=True)
CLOSED, EMPTY = (f"gold {host} trait:CUSTOM_GOLT=required" for host in ("a", ""))
MALFORMED = "m a trait:CUSTOM_GOLD!=required"
GROUP = "resources_A:VCPU=1"
GOLT, REFUSED_TOO = "f trait:CUSTOM_GOLT=", "f vcpus=2 hw:cpu_thread_policy=prefer"
NEEDS_GOLD = "f trait:CUSTOM_GOLD=required"
FORBIDS_GOLD = "f trait:CUSTOM_GOLD=forbidden"
NEEDS_BOTH = "trait:CUSTOM_GOLD=required trait:CUSTOM_SILVER=required"
PINNED = "pinned hw:cpu_thread_policy=isolate hw:cpu_policy=dedicated"
SHARED = "shared hw:cpu_policy=shared; shared-too ram=1024 hw:cpu_policy=shared; plain"
NAMES = "traits-unknown", "traits-malformed"
OWN_GROUP = "trait1:CUSTOM_GOLD=required resources1:CUSTOM_DISK=1"
ISOLATED = {"aggregates": "g a trait:CUSTOM_GOLD=required", "assumptions": ON}
THREADS = "HW_CPU_HYPERTHREADING"
LARGER = [{**image("i"), "min_ram": 4096, "min_disk": 40}]
FAULTS = {
    "~error traits-unknown trait CUSTOM_GOLT (flavor f): Placement rejects every "
    "request that names it; named by flavor f; did you mean CUSTOM_GOLD? -> correct "
    "flavor f": [survey(AB, f"{GOLT}{value}") for value in ("required", "forbidden")],
    "error traits-unknown trait CUSTOM_X (flavor f)...": survey(
        "a", f"f trait_A:CUSTOM_X=required {GROUP}"
    ),
    "~error traits-unknown trait COMPUTE_SECURITY_TPM_2_0 (flavor f)...\n"
    "error traits-unknown trait COMPUTE_SECURITY_TPM_SECRET_SECURITY_USER (flavor "
    "f)...\n"
    "error traits-unknown trait COMPUTE_SECURITY_TPM_TIS (flavor f)...": survey(
        "a", "f hw:tpm_version=2.0"
    ),
    "~error traits-unknown trait CUSTOM_GOLT (flavor f, flavor g): Placement rejects "
    "every request that names it; named by flavors f, g; did you mean CUSTOM_GOLD? -> "
    "openstack trait-sched trait rename CUSTOM_GOLD CUSTOM_GOLT --dry-run": survey(
        AB, f"{GOLT}required; {GOLT.replace('f', 'g', 1)}required"
    ),
    "~error traits-unknown trait CUSTOM_GOLT (flavor f, flavor g): Placement rejects "
    "every request that names it; named by flavors f, g; did you mean CUSTOM_GOLD? -> "
    "correct flavors f, g": survey(
        AB,
        f"{GOLT}required; {GOLT.replace('f', 'g', 1)}required; "
        f"h trait:CUSTOM_GOLD=required",
    ),
    "~error traits-unknown trait CUSTOM_GOLT (aggregate gold)...": survey(
        "a", aggregates=CLOSED, assumptions=ON
    ),
    "~warning traits-unknown trait CUSTOM_GOLT (aggregate gold)...": [
        survey("a", aggregates=EMPTY, assumptions=ON),
        survey("a", aggregates=CLOSED),
    ],
    "note traits-twins trait CUSTOM_SILVER (host a, host b): on the same 2 hosts as "
    "CUSTOM_GOLD: a, b -> if both mean the same: openstack trait-sched trait rename "
    "CUSTOM_SILVER CUSTOM_GOLD --dry-run": survey(
        f"a {GOLD} {SILVER}; b {GOLD} {SILVER}",
        f"{NEEDS_GOLD}; g trait:{SILVER}=required",
    ),
    "~error traits-malformed flavor f: no trait can be named 'x': Placement rejects "
    "every request that names it -> take the key off: openstack flavor unset "
    "--property trait_A:x f\n"
    "error traits-malformed image i: no trait can be named 'y': Placement rejects "
    "every request that names it -> take the key off: openstack image unset --property "
    "trait:y 83c90a1b-b3c9-51d1-b278-7ccf7b97387e": survey(
        "a", f"f trait_A:x=required {GROUP} trait:x=odd", "i trait:y=required"
    ),
    "~error traits-malformed aggregate m: no trait can be named 'CUSTOM_GOLD!': no "
    "request can require it, and so get in; did you mean CUSTOM_GOLD?...": survey(
        AB, aggregates=MALFORMED, assumptions=ON
    ),
    "~warning traits-malformed aggregate m: no trait can be named 'CUSTOM_GOLD!': no "
    "request can require it, and so get in; did you mean...": survey(
        AB, aggregates=MALFORMED
    ),
    "error traits-bad-value flavor f: Nova ignores trait:CUSTOM_GOLD=requird: the "
    "value can only be required or forbidden -> openstack flavor set...": survey(
        AB, "f trait:CUSTOM_GOLD=requird"
    ),
    "error traits-bad-value image i: Nova ignores trait:CUSTOM_GOLD=odd: the value can "
    "only be required -> set the value to required, or remove the key": survey(
        AB, images="i trait:CUSTOM_GOLD=odd"
    ),
    "error traits-bad-value aggregate g: Nova ignores trait:CUSTOM_GOLD=forbidden: the "
    "value can only be required -> set the value to required, or...": survey(
        AB, aggregates="g trait:CUSTOM_GOLD=forbidden"
    ),
    # It boots.
    "warning traits-bad-value image i...": survey(
        AB, images="i trait:CUSTOM_GOLD=forbidden"
    ),
    # Some databases ignore it.
    "~warning traits-bad-value aggregate g: MariaDB and MySQL take "
    "trait:CUSTOM_GOLD=Required for required, other databases ignore it -> openstack "
    "aggregate set --property trait:CUSTOM_GOLD=required g": survey(
        AB, aggregates="g trait:CUSTOM_GOLD=Required"
    ),
    "~error traits-bad-value aggregate g: Nova ignores trait:CUSTOM_X=requird: the "
    "value can only be required -> openstack aggregate set --property "
    "trait:CUSTOM_X=required g\n"
    "warning traits-bad-value aggregate g: MariaDB and MySQL take "
    "trait:CUSTOM_GOLD=Required, Trait:CUSTOM_SILVER=required  for required, other "
    "databases ignore it -> openstack aggregate set --property "
    "trait:CUSTOM_GOLD=required --property Trait:CUSTOM_SILVER=required g": [
        collated(collation, [aggregate("g", **LUCK, trait__CUSTOM_X="requird")])
        for collation in ("case-insensitive", "case-sensitive")
    ],
    "~error traits-malformed aggregate g...": collated(
        "case-sensitive", "g a trait:custom_gold=required"
    ),
    "error traits-no-host trait CUSTOM_GOLD (flavor f, image i)...": survey(
        "a", NEEDS_GOLD, "i trait:CUSTOM_GOLD=required", known=[GOLD]
    ),
    # Somebody created what the flavor misspells.
    "~error traits-no-host trait CUSTOM_GLOD (flavor f): no host has it, and it is "
    "required by flavor f; did you mean CUSTOM_GOLD? -> correct flavor f": survey(
        "a CUSTOM_GOLD", "f trait:CUSTOM_GLOD=required", known=["CUSTOM_GLOD"]
    ),
    "~error traits-no-host trait CUSTOM_RACK_2 (flavor f): no host has it, and it is "
    "required by flavor f -> openstack trait-sched add CUSTOM_RACK_2 --host "
    "<HOST>": survey(
        "a CUSTOM_RACK_1", "f trait:CUSTOM_RACK_2=required", known=["CUSTOM_RACK_2"]
    ),
    "error traits-no-host trait COMPUTE_GRAPHICS_MODEL_VIRTIO (image i): no host's "
    "root provider has it, and it is required by image i -> check...": survey(
        "a", **MODEL, assumptions=METADATA
    ),
    # Nothing but the pair of flavor and image names the trait of the other model.
    "error traits-no-host trait COMPUTE_SECURITY_TPM_TIS (flavor f)...": survey(
        f"a {TPM}; b {TPM} {CRB}", "f hw:tpm_version=2.0", **TPM_KNOWN
    ),
    "note traits-few-hosts flavor f (host a): CUSTOM_GOLD: leaves 1 of the 2 hosts "
    "that are large enough: a": survey(
        "a CUSTOM_GOLD; b; tiny MEMORY_MB=100", NEEDS_GOLD
    ),
    "error traits-few-hosts flavor f: CUSTOM_GOLD: leaves none of the 1 hosts that are "
    "large enough -> openstack trait-sched add CUSTOM_GOLD --host <HOST>": survey(
        "a; tiny CUSTOM_GOLD VCPU=1 MEMORY_MB=100", NEEDS_GOLD
    ),
    "error traits-few-hosts flavor f: not CUSTOM_GOLD: leaves none of the 2 hosts that "
    "are large enough -> openstack flavor unset --property <KEY> f": survey(
        AB, FORBIDS_GOLD
    ),
    "note traits-few-hosts flavor f (host full)...": survey(
        "a; full CUSTOM_GOLD ?", NEEDS_GOLD
    ),
    "error traits-not-together flavor f: hosts meet each by itself, and none all "
    "together: CUSTOM_GOLD and CUSTOM_SILVER -> openstack trait-sched...": survey(
        A_OR_B, f"f {NEEDS_BOTH}"
    ),
    "error traits-not-together image i...": survey(A_OR_B, images=f"i {NEEDS_BOTH}"),
    "~note traits-not-together image i (flavor f)...": survey(
        A_OR_B, NEEDS_GOLD, "i trait:CUSTOM_SILVER=required"
    ),
    "error traits-contradiction flavor f: requires and forbids "
    "COMPUTE_SECURITY_TPM_2_0: Placement rejects every request of it -> openstack "
    "flavor...": survey(TPM_HOSTS, f"f hw:tpm_version=2.0 trait:{TPM}=forbidden"),
    "note traits-contradiction image i (flavor f)...": (
        survey(
            "a CUSTOM_GOLD; b", f"{FORBIDS_GOLD}; g", "i trait:CUSTOM_GOLD=required"
        ),
        "traits",
    ),
    "error traits-rejected flavor f: Nova rejects every server of it: hw:cpu_policy "
    "has a value that Nova does not know...": survey("a", "f hw:cpu_policy=often", "i"),
    "error traits-rejected flavor f...": survey("a", REFUSED_TOO),
    # Without an image Nova does not look at it.
    "error traits-rejected flavor f: Nova rejects every server of it: "
    "hw:cpu_max_sockets is no number that Nova takes (InvalidRequest) -> "
    "set...": survey("a", "f hw:cpu_max_sockets=some", "i"),
    "error traits-rejected image i...": survey("a", "f", "i hw_disk_bus=floppy"),
    "note traits-rejected image i (flavor shared, flavor shared-too)...": (
        survey(
            "a", f"{PINNED}; {SHARED}", "i hw_cpu_policy=dedicated", known=[THREADS]
        ),
        "traits",
    ),
    "note traits-unused trait CUSTOM_GOLD (host a)...\n"
    "note traits-unused trait CUSTOM_SILVER...": survey(
        "a CUSTOM_GOLD; b", known=[SILVER]
    ),
}


@pytest.mark.parametrize(("text", "surveys"), FAULTS.items())
def test_a_fault_is_told_once(text, surveys):
    assert_told(text, surveys)


BOTH = f"a {GOLD} {SILVER}; b {GOLD} {SILVER}"
HEALTHY = [
    *(
        (survey(hosts, flavors), "traits-twins")
        for hosts, flavors in (
            (BOTH, f"f {NEEDS_BOTH}"),
            (BOTH, NEEDS_GOLD),
            (
                f"a {GOLD} {SILVER}; b {GOLD}",
                f"{NEEDS_GOLD}; g trait:{SILVER}=required",
            ),
            (f"a {GOLD} {SILVER}; b", f"{NEEDS_GOLD}; g trait:{SILVER}=required"),
        )
    ),
    survey(AB, NEEDS_GOLD, "i trait:CUSTOM_GOLD=required"),
    (collated("case-insensitive", "g a trait:custom_gold=required"), *NAMES),
    survey("a", FORBIDS_GOLD, known=[GOLD]),
    with_child("trait:CUSTOM_GOLD=required resources:CUSTOM_DISK=1", GOLD),
    (survey("a", **MODEL), "traits"),
    survey(
        f"a {TPM}; b {TPM} {CRB}",
        "f hw:tpm_version=2.0",
        "i hw_tpm_model=tpm-crb",
        **TPM_KNOWN,
    ),
    # The trait of an isolated aggregate is meant for few hosts.
    survey("a CUSTOM_GOLD; b", NEEDS_GOLD, **ISOLATED),
    # Only an image asks for pinned CPUs.
    survey("a; p CUSTOM_GOLD PCPU=8 MEMORY_MB=8192 DISK_GB=10", NEEDS_GOLD),
    of_shared_disk(),
    # Providers of one tree have the traits between them.
    with_child(f"{NEEDS_BOTH} resources:CUSTOM_DISK=1", SILVER, root=GOLD),
    # Groups of their own do not contradict each other.
    with_child(f"{OWN_GROUP} trait:CUSTOM_GOLD=forbidden", GOLD),
    # Some image makes the flavor possible.
    (survey("a", REFUSED_TOO, "i hw_cpu_policy=dedicated"), "traits-rejected"),
    # An image that needs a larger flavor contradicts none.
    (survey("a", "f hw:cpu_policy=shared", LARGER), "traits"),
    (survey(AB, "f trait2:CUSTOM_GOLD=forbidden resources2:VCPU=1"), "traits-unused"),
    (survey(AB, images="i trait:CUSTOM_GOLD=required"), "traits-unused"),
    (survey(AB, aggregates="g a b trait:CUSTOM_GOLD=required"), "traits-unused"),
    # The traits of other services' providers, and of a node of Ironic, are theirs.
    with_child("", "CUSTOM_PHYSNET_1", size={}),
    of_ironic("a CUSTOM_GOLD; b"),
]


@pytest.mark.parametrize("surveys", HEALTHY)
def test_what_is_as_it_should_be_is_no_finding(surveys):
    assert_told("", surveys)


@pytest.mark.parametrize(
    ("right", "values"),
    [
        ("required", ("require", "requires", "Required", "True", "1")),
        ("forbidden", ("forbid", "forbiden")),
        ("", ("preferred", "no", "unrequired", "not required")),
    ],
)
def test_a_value_of_a_trait_is_corrected_if_it_can_mean_one_thing_only(right, values):
    for value in values:
        named = survey(AB, [flavor("f", trait__CUSTOM_GOLD=value)])
        (text,) = told(named, "traits-bad-value")
        fix = "-> set the value to required or forbidden, or remove the key"
        if right:
            fix = f"-> openstack flavor set --property trait:CUSTOM_GOLD={right} f"
        assert text.endswith(fix)


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


@pytest.mark.parametrize(
    "name", ["CUSTOM_GOLD ", "CUSTOM_\x1b[31mX", "custom_gold", "CUSTOM_", "A,B"]
)
def test_a_name_that_no_trait_can_have_is_an_error_about_the_flavor_alone(name):
    (text,) = told(survey("a", [flavor("f", **{f"trait:{name}": "forbidden"})]))
    start = f"error traits-malformed flavor f: no trait can be named {quoted(name)}: "
    assert text.startswith(start)
    assert "-> take the key off: openstack flavor unset --property " in text
    assert text.endswith(" f")


@pytest.mark.parametrize(("name", "meant"), [("10", "2"), ("-", "-"), ("a\nb", "3")])
def test_an_aggregate_s_command_has_its_id_if_its_name_would_not_do(name, meant):
    odd = aggregate(name, "a", trait__CUSTOM_GOLD="requird", weight_multiplier="1")
    cloud = survey("a; 10", aggregates=[odd])
    for rule in ("traits-bad-value", "weighers-key-off"):
        (finding,) = findings(cloud, rule)
        assert meant in finding.words().fix.parts
        assert (finding.words().fix.parts[-1] == name) is (meant == name)


def test_a_host_is_taken_out_of_an_aggregate_by_its_id_if_its_name_is_a_number():
    pair = f"10 a trait:{GOLD}=required; x a trait:{SILVER}=required"
    wants = f"g trait:{GOLD}=required; s trait:{SILVER}=required"
    cloud = survey(f"a {GOLD} {SILVER}", wants, aggregates=pair, assumptions=ON)
    (finding,) = findings(cloud, "isolation-overlap")
    assert finding.words().fix.parts == ("2", Placeholder("HOST"))


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
    (text,) = told(survey("a", [flavor("f", {"vcpus": 2}, **specs)], "i"))
    assert text.startswith("error traits-rejected flavor f: ")
    assert any(key in text for key in specs)
