"""What plan and isolate say of an aggregate that no flavor will get into."""

from __future__ import annotations

import pytest

ISOLATES = ("--set", "scheduler.enable_isolated_aggregate_filtering=true")


@pytest.fixture
def said(trait_sched):
    """What plan says of a file."""

    def run(text, *more, code=0):
        found = trait_sched("plan", "w.yaml", *ISOLATES, *more, w=text)
        assert found.code == code, found.err
        return found.err

    return run


def specs(cloud, **flavors):
    """Let there be these flavors alone, by their names."""
    cloud.flavors = {}
    for name, found in flavors.items():
        cloud.flavor(name)
        cloud.flavors[f"{name}-id"]["extra_specs"] = found


def test_an_aggregate_that_no_flavor_will_get_into_is_told(said, cloud, golden):
    text = "aggregates: {gold: {isolated_for: [CUSTOM_GOLD, CUSTOM_SILVER]}}"
    golden("isolate/closed-to-all", said(text))
    both = "flavors: {golden: {requires: [CUSTOM_GOLD, CUSTOM_SILVER]}}"
    assert "no listed flavor" not in said(f"{text}\n{both}")
    cloud.metadata.update(
        {"trait:CUSTOM_GOLD": "required", "trait:CUSTOM_SILVER": "required"}
    )
    # It is so already, and nothing that the plan does.
    assert said(text) == ""


TPM_2 = "COMPUTE_SECURITY_TPM_2_0"
TPM = {"hw:tpm_version": "2.0", "hw:tpm_model": "tpm-crb"}


@pytest.mark.parametrize(
    ("trait", "flavor"),
    [
        (TPM_2, TPM),
        ("COMPUTE_SECURITY_UEFI_SECURE_BOOT", {"os:secure_boot": "required"}),
        # Nova takes no server of it, and so asks for nothing.
        ("CUSTOM_GOLD", {"trait:CUSTOM_GOLD": "required", "hw:tpm_version": "3"}),
    ],
)
def test_what_nova_makes_of_a_flavor_lets_it_in(said, cloud, trait, flavor):
    cloud.known.add(trait)
    text = f"aggregates: {{gold: {{isolated_for: [{trait}]}}}}"
    newest = ("--nova-release", "34")
    specs(cloud, other={})
    assert f"no listed flavor requires {trait}" in said(text, *newest)
    specs(cloud, other={}, vip=flavor)
    assert "no listed flavor" not in said(text, *newest)


@pytest.mark.parametrize(("release", "is_told"), [("29", True), ("30", False)])
def test_what_nova_makes_of_a_flavor_is_of_its_release(said, cloud, release, is_told):
    cloud.known.add("COMPUTE_SECURITY_TPM_CRB")
    specs(cloud, vip=TPM)
    text = "aggregates: {gold: {isolated_for: [COMPUTE_SECURITY_TPM_CRB]}}"
    assert ("no listed flavor" in said(text, "--nova-release", release)) is is_told


@pytest.fixture
def hidden(cloud, monkeypatch):
    """Let Nova list public flavors alone, as for all but administrators."""
    read = cloud.compute_get

    def only_public(parts, params):
        if parts == ("flavors", "detail"):
            return read(parts, {**params, "is_public": "None"})
        return read(parts, params)

    monkeypatch.setattr(cloud, "compute_get", only_public)


@pytest.mark.usefixtures("hidden")
def test_flavors_that_are_hidden_may_get_in(said, trait_sched, golden):
    planned = said("aggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}", code=8)
    isolate = ("isolate", "gold", "CUSTOM_GOLD", "--dry-run", *ISOLATES)
    golden("isolate/hidden-flavors", planned + trait_sched(*isolate).err)
