"""What can be asked of a cloud, of recorded answers: no HTTP and no client is there."""

from __future__ import annotations

import dataclasses
import itertools
import json
import threading

import pytest

from osc_traitsched.app import check, explain, listing, request, settings
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import lookup
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import exit_code
from osc_traitsched.core.errors import (
    AmbiguousName,
    CloudBroke,
    Forbidden,
    NotForProject,
    NothingMatches,
    NotInCatalog,
    Refusal,
    TraitMissing,
)
from osc_traitsched.core.inventory.snapshot import Selectors
from osc_traitsched.core.judge.judgement import RefusedRequest
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.nova.server import Network, Parts, Port
from osc_traitsched.views import listing as views
from osc_traitsched.views.explain import document
from osc_traitsched.views.explain import text as explain_text
from tests.unit.app import recorded
from tests.unit.app.recorded import (
    CMP01,
    CMP02,
    CMP03,
    GPU,
    IMAGE,
    KNOWN_OFF,
    NAMED_ROCKY,
    OTHER,
    OWN,
    ROCKY,
    RecordedCloud,
    providers,
)

ALL = Selectors(everything=True)
GOLD = ServerSpec("gold", "rocky")
PROJECT = {"projects": [{"id": OTHER, "name": "demo"}], "links": {"next": None}}
UNMARKED = "/resource_providers?required=!OWNER_NOVA"


@pytest.fixture
def cloud():
    return RecordedCloud()


def ask(cloud, asked=GOLD, **sources):
    known = KNOWN_OFF + sources.pop("options", ())
    return request.question(cloud, asked, SettingsSources(**sources, options=known))


def explained(cloud, question, **options):
    """An explanation, and the judgement in it."""
    explanation = explain.explain(cloud, question, **options)
    return explanation, explanation.judgement


def text(explanation):
    """Return what a person reads."""
    return "\n".join(line.text for line in explain_text.lines(explanation, (), False))


def on_behalf(flavor=None, image=None):
    """Return a cloud, and what is asked for the project demo, of things not public."""
    bodies = {"identity": {"/projects?name=demo": PROJECT}, "compute": {}, "image": {}}
    if flavor is not None:
        private = {**recorded.flavor("gold"), "os-flavor-access:is_public": False}
        access = [{"flavor_id": "gold", "tenant_id": each} for each in flavor]
        bodies["compute"] = {
            "/flavors/detail?is_public=None": {"flavors": [private]},
            "/flavors/gold/os-flavor-access": {"flavor_access": access},
        }
    if image is not None:
        bodies["image"] = {
            f"/images/{IMAGE}": {**ROCKY, "owner": OWN, **image.pop("body")},
            f"/images/{IMAGE}/members": {
                "members": [{"member_id": k, "status": v} for k, v in image.items()]
            },
        }
    asked = ServerSpec("gold", IMAGE if image is not None else None, project="demo")
    cloud = RecordedCloud(**bodies)
    return cloud, ask(cloud, asked)


def test_hosts_are_chosen_by_aggregate_and_by_trait(cloud):
    selectors = Selectors(
        aggregates=("gold",), lacking=frozenset({"HW_CPU_X86_AVX512F"})
    )
    found = listing.by_host(cloud, selectors)
    assert [each.provider.name for each in found.held] == ["cmp03"]


@pytest.mark.parametrize(
    ("service", "path"),
    [
        ("placement", "/resource_providers"),
        ("compute", "/os-hypervisors/detail"),
        ("compute", "/os-services?binary=nova-compute"),
    ],
)
def test_aggregates_are_listed_to_who_may_read_no_more_of_the_cloud(service, path):
    hidden = Forbidden(service, "Policy does not allow it", "project", ("reader",))
    found = listing.compare(RecordedCloud(**{service: {path: hidden}}))
    assert found.unread is hidden
    assert [each.aggregate.name for each in found.differences] == ["gold", "zone1"]
    columns, rows = views.rows(
        found.differences, whole=False, is_known=False, projects={}
    )
    shown = dict(zip(columns, rows[0]))["mirror"]
    assert (shown.machine_readable(), shown.human_readable()) == (None, "unknown")


def test_aggregates_that_may_not_be_read_are_an_error():
    hidden = Forbidden("compute", "Policy doesn't allow os-aggregates:index")
    with pytest.raises(Forbidden):
        listing.compare(RecordedCloud(compute={"/os-aggregates": hidden}))


def test_a_candidate_says_what_it_would_give_and_where_it_is(cloud):
    (found,) = explain.candidates(cloud, ask(cloud)).hosts
    assert found.host.uuid == CMP01
    assert [
        (each.provider.name, each.resource_class, each.amount, each.free)
        for each in found.allocations
    ] == [
        ("cmp01", "DISK_GB", 20, 900),
        ("cmp01", "MEMORY_MB", 4096, 65024 - 8192),
        ("cmp01", "VCPU", 4, 64),
    ]
    assert [each.name for each in found.aggregates] == ["gold", "zone1"]


def test_every_host_that_can_not_take_a_server_is_explained(cloud):
    explanation, found = explained(cloud, ask(cloud), want_fixes=True)
    assert [host.name for host in found.candidates] == ["cmp01"]
    assert found.agrees
    assert set(found.verdict.rejections) == {CMP02, CMP03}
    gained = {fix.hosts for fix in explanation.fixes}
    assert gained == {(CMP02,), (CMP03,)}


def test_the_hosts_that_are_asked_for_are_in_the_explanation(cloud):
    explanation, found = explained(cloud, ask(cloud), named=["cmp03"], want_fixes=False)
    assert [host.name for host in explanation.named] == ["cmp03"]
    assert explanation.fixes == ()
    assert found.facts.stock[CMP03]["MEMORY_MB"].reserved == 512
    with pytest.raises(NothingMatches):
        explain.explain(cloud, ask(cloud), named=["cmp09"])


def test_what_would_help_is_told_with_its_caution_and_the_safest_first(cloud, golden):
    explanation, _ = explained(cloud, ask(cloud), want_fixes=True)
    helping = document.document(explanation)["fixes"]
    assert [(each["text"], each["caution"]) for each in helping] == [
        ("add CUSTOM_GOLD to cmp02", "if the host really has it"),
        ("a flavor with 512 MB", None),
    ]
    golden("explain/real-fixes", text(explanation))


def test_a_flavor_is_explained_as_it_would_be(cloud):
    asked = ServerSpec("gold", "rocky", flavor_properties={"trait:CUSTOM_GOLD": ""})
    question = ask(cloud, asked)
    assert question.spec.is_what_if
    found = explain.explain(cloud, question, want_fixes=False).judgement
    assert [host.name for host in found.candidates] == ["cmp01", "cmp02"]


def test_the_whole_cloud_is_checked(cloud):
    found = check.check(cloud, SettingsSources())
    assert [(each.rule, each.name) for each in found.findings] == [
        *(("resources-leaked", name) for name in ("cmp01", "cmp02", "cmp03")),
        ("isolation-off", "scheduler.enable_isolated_aggregate_filtering"),
        ("az-default-zone", "nova"),
        ("mirror-missing", "gold"),
        ("traits-unused", "CUSTOM_SILVER"),
    ]
    assert found.survey.projects == {OWN: "admin", OTHER: "demo"}


def test_an_image_of_another_project_is_no_fault_of_the_cloud():
    images = "/images?limit=1000&os_hidden=false&visibility=all"
    theirs = {**ROCKY, "owner": OTHER, "visibility": "shared", "trait:CUSTOM_X": "odd"}
    cloud = RecordedCloud(image={images: {"images": [theirs]}})
    (found,) = check.check(cloud, SettingsSources(), ["traits-bad-value"]).findings
    assert (found.severity.value, found.name) == (
        "note",
        f"rocky ({theirs['id']}, owner {OTHER})",
    )


def test_a_check_can_be_of_some_rules_and_some_flavors(cloud):
    wanted = ["mirror", "traits-unused"]
    found = check.check(cloud, SettingsSources(), wanted)
    assert [each.rule for each in found.findings] == ["mirror-missing", "traits-unused"]
    assert check.check(cloud, SettingsSources(), wanted, ["gold"]).findings == ()
    with pytest.raises(NothingMatches):
        check.check(cloud, SettingsSources(), wanted, ["silver"])
    with pytest.raises(NothingMatches):
        check.check(cloud, SettingsSources(), ["mirrors"])


def test_server_groups_are_read_where_a_filter_of_theirs_is_off_and_else_not():
    group = {"id": "1", "name": "web", "policy": "affinity", "project_id": OWN}
    pages = [{**group, "rules": {}, "members": []}], []
    groups = {
        f"/os-server-groups?all_projects=true&offset={offset}": {"server_groups": page}
        for offset, page in enumerate(pages)
    }
    off = ("filter_scheduler.enabled_filters", "ComputeFilter")
    found = check.check(
        RecordedCloud(compute=groups),
        SettingsSources(options=(off,)),
        ["filters-group-policy"],
    )
    (finding,) = found.findings
    assert "every server of server group web" in finding.words().problem
    assert found.survey.groups[0].policy == "affinity"
    # The cloud without an answer for groups is one that is not asked for any.
    assert check.check(RecordedCloud(), SettingsSources()).survey.groups == ()


def ignoring(*rules):
    return SettingsSources(found=SettingsSources("a test", ignore_rules=rules))


def test_rules_that_the_settings_ignore_are_left_out_unless_they_are_named(cloud):
    sources = ignoring("mirror-missing", "az-default-zone", "resources-leaked")
    found = check.check(cloud, sources)
    assert [each.rule for each in found.findings] == ["isolation-off", "traits-unused"]
    found = check.check(cloud, sources, ["mirror-missing"])
    assert [each.rule for each in found.findings] == ["mirror-missing"]
    assert check.check(cloud, sources, ["mirror"]).findings == ()
    found = check.check(cloud, sources, ignored=["traits-unused"])
    assert [each.rule for each in found.findings] == ["isolation-off"]
    # A rule that a later release has no more does not stop the others.
    found = check.check(cloud, ignoring("mirror-gone"))
    assert found.unknown_ignored == ("mirror-gone",)
    assert found.findings


IN_TREE = (
    "/allocation_candidates?in_tree={}&required=CUSTOM_GOLD&root_required="
    "!COMPUTE_STATUS_DISABLED&resources=DISK_GB:20,MEMORY_MB:4096,VCPU:4"
)


MEMORY = "/resource_providers?resources=MEMORY_MB:4096"


@pytest.mark.parametrize(
    ("having", "code", "verdict", "named", "state"),
    [
        ([CMP01, CMP02], 0, "candidates", [], "as-read"),
        ([CMP01, CMP02, CMP03], 0, "candidates", ["cmp03"], "one-changed-meanwhile"),
        ([CMP02, CMP03], 0, "candidates", ["cmp01", "cmp03"], "two-changed-meanwhile"),
        ([CMP02], 4, "disagreement", ["cmp01"], "verdict-in-doubt"),
    ],
)
def test_hosts_that_changed_meanwhile_are_a_warning_unless_the_verdict_hangs_on_them(
    cloud, golden, having, code, verdict, named, state
):
    stock = cloud.placement.get(f"/resource_providers/{CMP03}/inventories")
    own = {f"/resource_providers/{u}/inventories": stock for u in (CMP01, GPU)}
    alone = {IN_TREE.format(CMP03): recorded.candidates(recorded.NEEDED)}
    cloud = RecordedCloud(placement={MEMORY: providers(*having), **own, **alone})
    explanation, found = explained(cloud, ask(cloud), want_fixes=False)
    assert exit_code(found) == code
    whole = document.document(explanation)
    assert whole["verdict"] == verdict
    assert sorted(itertools.chain(*whole["disagreement"].values())) == named
    golden(f"explain/{state}", text(explanation))


def test_hosts_that_placement_gives_only_when_asked_for_them_alone_are_candidates(
    golden,
):
    alone = {IN_TREE.format(CMP03): recorded.candidates(recorded.NEEDED, CMP03)}
    having = providers(CMP01, CMP02, CMP03)
    cloud = RecordedCloud(placement={MEMORY: having, **alone})
    explanation, found = explained(cloud, ask(cloud), want_fixes=False)
    assert exit_code(found) == 0
    whole = document.document(explanation)
    assert whole["candidates"] == ["cmp01", "cmp03"]
    assert whole["cut_off_candidates"] == ["cmp03"]
    assert not any(whole["disagreement"].values())
    golden("explain/given-only-alone", text(explanation))


def test_a_host_that_is_made_after_the_list_is_a_candidate_and_not_deleted(
    cloud, monkeypatch
):
    placement, get = cloud.placement, cloud.placement.get
    lists = [providers(CMP02, CMP03)]

    def late(path, *args, **more):
        is_list = path == "/resource_providers" and not any((*args, *more.values()))
        return lists.pop() if is_list and lists else get(path, *args, **more)

    monkeypatch.setattr(placement, "get", late)
    found = explain.explain(cloud, ask(cloud), want_fixes=False).judgement
    assert exit_code(found) == 0
    assert [host.name for host in found.candidates] == ["cmp01"]
    assert found.facts.vanished == ()


def test_a_host_that_comes_between_two_reads_is_a_candidate_that_nothing_cut_off(
    monkeypatch,
):
    alone = {IN_TREE.format(CMP03): recorded.candidates(recorded.NEEDED, CMP03)}
    having = providers(CMP01, CMP02, CMP03)
    cloud = RecordedCloud(placement={MEMORY: having, **alone})
    placement, get = cloud.placement, cloud.placement.get
    asked = []

    def answer(path, *arguments, **options):
        body = get(path, *arguments, **options)
        asked.append(placement.asked[-1])
        if "required=CUSTOM_GOLD" in path and asked.count(asked[-1]) == 2:
            both = recorded.candidates(recorded.NEEDED, CMP01, CMP03)
            placement.now_has(path, both)
        return body

    monkeypatch.setattr(placement, "get", answer)
    explanation, _ = explained(cloud, ask(cloud), want_fixes=False)
    whole = document.document(explanation)
    assert whole["candidates"] == ["cmp01", "cmp03"]
    assert whole["cut_off_candidates"] == []
    assert not any(whole["disagreement"].values())


def test_another_release_that_would_not_refuse_is_said_beside_the_verdict(golden):
    cloud = RecordedCloud()
    specs = {"hw:cpu_policy": "mixed", "hw:cpu_dedicated_mask": "0"}
    assumed = SchedulerSettings(21, others=(SchedulerSettings(22),))
    question = dataclasses.replace(ask(cloud).with_flavor(specs), assumptions=assumed)
    explanation = explain.explain(cloud, question)
    golden("explain/other-release", text(explanation))
    (other,) = document.document(explanation)["release"]["others"]
    assert (other["name"], other["impact"]["rejected"]) == ("victoria", False)


def test_a_placement_that_can_not_be_asked_for_a_host_alone_is_believed():
    alone = {IN_TREE.format(CMP03): CloudBroke("placement", "no resources", 400)}
    having = providers(CMP01, CMP02, CMP03)
    cloud = RecordedCloud(placement={MEMORY: having, **alone})
    found = explain.explain(cloud, ask(cloud), want_fixes=False).judgement
    assert [host.name for host in found.candidates] == ["cmp01"]
    assert [host.name for host in found.wrongly_admitted] == ["cmp03"]


@pytest.mark.parametrize(
    ("host", "given", "failing", "state"),
    [
        ("cmp01", [CMP01], [], "named-host"),
        ("cmp02", [], ["CUSTOM_GOLD"], "named-host-that-lacks-a-trait"),
    ],
)
def test_the_verdict_is_of_the_host_that_is_named_with_the_zone(
    golden, host, given, failing, state
):
    uuid = {"cmp01": CMP01, "cmp02": CMP02}[host]
    answer = recorded.candidates(recorded.NEEDED, *given)
    figures = RecordedCloud().placement.get("/allocation_candidates?resources=VCPU:1")
    bodies = {IN_TREE.format(uuid): answer}
    bodies["/allocation_candidates?limit=100000&resources=VCPU:1"] = figures
    cloud = RecordedCloud(placement=bodies)
    question = ask(cloud, ServerSpec("gold", "rocky", zone=f"nowhere:{host}"))
    explanation, found = explained(cloud, question, want_fixes=False)
    assert ([each.uuid for each in found.candidates], found.agrees) == (given, True)
    assert found.total_hosts == 1
    of = found.rejections.get(uuid)
    assert [each.name for each in (of.failing if of else ())] == failing
    listed = explain.candidates(cloud, question).hosts
    assert [each.host.uuid for each in listed] == given
    golden(f"explain/{state}", text(explanation))


def test_a_host_that_is_not_there_is_refused_with_names_like_it(cloud, golden):
    question = ask(cloud, ServerSpec("gold", "rocky", zone="nova:cmp09"))
    with pytest.raises(Refusal) as caught:
        explain.candidates(cloud, question)
    assert caught.value.keys == ("host: cmp09",)
    explanation = explain.explain(cloud, question)
    assert explanation.judgement.refusal.nearest == caught.value.nearest
    golden("explain/named-host-that-is-not-there", text(explanation))


def test_a_zone_with_too_many_colons_is_explained_as_refused(cloud, golden):
    question = ask(cloud, ServerSpec("gold", "rocky", zone="a:b:c:d"))
    explanation, found = explained(cloud, question)
    assert found.refusal.exception == "InvalidInput"
    assert document.document(explanation)["verdict"] == "rejected"
    golden("explain/zone-with-colons", text(explanation))


@pytest.fixture
def sharing():
    """Return a cloud in which every host shares what it has with nobody."""
    marked = "/resource_providers?required=MISC_SHARES_VIA_AGGREGATE"
    hosts = (CMP01, CMP02, CMP03)
    none = {"aggregates": [], "resource_provider_generation": 3}
    own = {f"/resource_providers/{uuid}/aggregates": none for uuid in hosts}
    return RecordedCloud(placement={marked: providers(*hosts), **own})


def test_hosts_that_share_are_judged_and_listed_as_others_are(cloud, sharing):
    of_all = [explain.explain(each, ask(each)).judgement for each in (cloud, sharing)]
    usual, found = ([h.name for h in each.candidates] for each in of_all)
    assert usual == found == ["cmp01"]
    assert of_all[1].rejections.keys() == {CMP02, CMP03}
    assert of_all[1].agrees
    (given,) = explain.candidates(sharing, ask(sharing)).hosts
    assert given.host.uuid == CMP01
    listed = listing.by_host(sharing, ALL).held
    assert [each.provider.name for each in listed] == ["cmp01", "cmp02", "cmp03"]


def test_a_root_that_placement_gives_and_nova_does_not_list_is_said(golden):
    nodes = RecordedCloud().compute.get("/os-hypervisors/detail")["hypervisors"]
    marked = "/resource_providers?required=COMPUTE_NODE"
    cloud = RecordedCloud(
        compute={"/os-hypervisors/detail": {"hypervisors": nodes[1:]}},
        placement={marked: providers()},
    )
    explanation, found = explained(cloud, ask(cloud), want_fixes=False)
    assert [each.name for each in found.unjudged_roots] == ["cmp01"]
    assert ([*found.candidates], found.agrees, exit_code(found)) == ([], False, 4)
    whole = document.document(explanation)
    assert whole["disagreement"]["unjudged_roots"] == ["cmp01"]
    golden("explain/roots-that-nova-does-not-list", text(explanation))


class ChangingCloud(RecordedCloud):
    """A cloud whose Nova changes once Placement was asked for candidates.

    :param before: what Nova answers until then
    :param after: what it answers then
    """

    def __init__(self, before=None, after=None, placement=None):
        super().__init__(compute=after or {}, placement=placement or {})
        self._earlier = RecordedCloud(compute=before or {}).compute
        self._found = {}

    @property
    def compute(self):
        asked = any("candidates" in path for path, _ in self.placement.asked)
        return self._later if asked else self._earlier

    @compute.setter
    def compute(self, service):
        self._later = service

    def once(self, read):
        if read not in self._found:
            self._found[read] = read(self)
        return self._found[read]


def nodes_but(*uuids):
    nodes = RecordedCloud().compute.get("/os-hypervisors/detail")["hypervisors"]
    listed = [each for each in nodes if each["id"] not in uuids]
    return {"/os-hypervisors/detail": {"hypervisors": listed}}


@pytest.mark.parametrize("marked", [providers(), providers(CMP01)])
def test_nova_is_read_again_before_a_verdict_is_called_in_doubt(marked):
    cloud = ChangingCloud(
        before={**nodes_but(CMP01), "/os-aggregates": {"aggregates": []}},
        placement={"/resource_providers?required=COMPUTE_NODE": marked},
    )
    found = explain.explain(cloud, ask(cloud), want_fixes=False).judgement
    assert [each.name for each in found.candidates] == ["cmp01"]
    assert (found.agrees, exit_code(found)) == (True, 0)
    assert [each.name for each in found.question.aggregates] == ["gold", "zone1"]


def test_a_host_that_was_named_and_is_gone_on_the_second_reading_is_refused():
    figures = RecordedCloud().placement.get("/allocation_candidates?resources=VCPU:1")
    cloud = ChangingCloud(
        after=nodes_but(CMP01),
        placement={
            IN_TREE.format(CMP01): recorded.candidates(recorded.NEEDED),
            "/allocation_candidates?limit=100000&resources=VCPU:1": figures,
        },
    )
    question = ask(cloud, ServerSpec("gold", "rocky", zone="nova:cmp01"))
    found = explain.explain(cloud, question).judgement
    assert isinstance(found, RefusedRequest)
    assert found.refusal.keys == ("host: cmp01",)


@pytest.mark.parametrize(
    ("zone", "nearest"), [("zone2", set()), ("zone3", {"zone1", "zone2"})]
)
def test_a_zone_without_an_enabled_compute_is_refused_and_a_typo_gets_names_like_it(
    cloud, zone, nearest
):
    question = ask(cloud, ServerSpec("gold", "rocky", zone=zone))
    with pytest.raises(Refusal) as caught:
        explain.candidates(cloud, question)
    assert caught.value.reason == "no-enabled-nova-compute-in-the-zone"
    assert set(caught.value.nearest) == nearest
    refusal = explain.explain(cloud, question).judgement.refusal
    assert refusal.reason == caught.value.reason


def test_nova_takes_the_zone_of_its_own_services_though_it_lists_it_for_nobody():
    def refused(cloud, zone):
        question = ask(cloud, ServerSpec("gold", "rocky", zone=zone))
        return request.zone_refusal(cloud, question) is not None

    cloud = RecordedCloud()
    zones = ("zone1", "internal", "idle", "zone2")
    assert [refused(cloud, zone) for zone in zones] == [False, False, True, True]
    hidden = RecordedCloud(compute={"/os-services": Forbidden("compute", "no")})
    assert refused(hidden, "internal")


def test_nova_does_not_look_at_the_zone_where_a_host_is_named(cloud):
    question = ask(cloud, ServerSpec("gold", "rocky", zone="zone2:cmp01"))
    assert request.zone_refusal(cloud, question) is None


@pytest.mark.parametrize(("projects", "is_for_demo"), [([OTHER], True), ([OWN], False)])
def test_a_private_flavor_is_for_the_projects_that_have_access(projects, is_for_demo):
    cloud, question = on_behalf(flavor=projects)
    assert allowed(cloud, question) is is_for_demo


@pytest.mark.parametrize(
    ("body", "members", "is_for_demo"),
    [
        ({"visibility": "public"}, {}, True),
        ({"visibility": "community"}, {}, True),
        ({"visibility": "private"}, {}, False),
        ({"visibility": "private", "owner": OTHER}, {}, True),
        ({"visibility": "shared"}, {OTHER: "accepted"}, True),
        ({"visibility": "shared"}, {OTHER: "pending"}, True),
        ({"visibility": "shared"}, {OTHER: "rejected"}, True),
        ({"visibility": "shared"}, {OWN: "accepted"}, False),
        ({"visibility": "shared", "owner": OTHER}, {}, True),
    ],
)
def test_an_image_is_for_its_owner_and_those_it_is_shared_with(
    body, members, is_for_demo
):
    cloud, question = on_behalf(image={"body": body, **members})
    assert allowed(cloud, question) is is_for_demo


def allowed(cloud, question):
    try:
        request.check_visible(cloud, question)
    except NotForProject:
        return False
    return True


@pytest.mark.parametrize(("owner", "is_for_demo"), [(OTHER, True), (OWN, False)])
def test_a_server_group_is_for_its_own_project(owner, is_for_demo):
    cloud, question = on_behalf()
    group = ServerGroup("g", "affinity", project=owner)
    question = dataclasses.replace(question, group=group)
    assert allowed(cloud, question) is is_for_demo


@pytest.mark.parametrize("owner", [OWN, OTHER, None])
def test_a_port_of_another_project_is_rejected_whoever_asks(cloud, owner):
    port = Port("p1", Network("n1"), project=owner)
    question = dataclasses.replace(ask(cloud), parts=Parts(ports=(port,)))
    found = explain.explain(cloud, question).judgement
    if owner != OTHER:
        assert found.refusal is None
        return
    assert (found.refusal.exception, found.refusal.stage) == (
        "PortNotUsable",
        "no valid host",
    )
    assert exit_code(found) == ExitCode.NO_HOST
    with pytest.raises(Refusal):
        explain.candidates(cloud, question)


def test_an_administrator_may_use_the_server_group_of_another_project(cloud):
    group = ServerGroup("g", "affinity", project=OTHER)
    question = dataclasses.replace(ask(cloud), group=group)
    assert allowed(cloud, question)


@dataclasses.dataclass
class Cinder:
    """Answers one path, or raises."""

    path: str
    answer: object
    service_type = "block-storage"

    def get(self, path, params=None, microversion=None, timeout=None):
        assert path == self.path
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("kind", "answer", "exception"),
    [
        ("snapshot", {"snapshot": {}}, None),
        ("snapshot", CloudBroke("block-storage", "gone", 404), "InvalidBDMSnapshot"),
        ("volume", CloudBroke("block-storage", "gone", 404), "InvalidBDMVolume"),
        ("snapshot", NotInCatalog("block-storage"), "InvalidBDMSnapshot"),
        ("snapshot", CloudBroke("block-storage", "no", 403), None),
    ],
)
def test_what_the_image_of_a_volume_is_made_of_must_be_in_cinder(
    kind, answer, exception
):
    device = {"boot_index": 0, "source_type": kind, "destination_type": "volume"}
    devices = json.dumps([{**device, f"{kind}_id": "s1"}])
    image = {**ROCKY, "bdm_v2": "true", "block_device_mapping": devices}
    cloud = RecordedCloud()
    cloud.block_storage = Cinder(f"/{kind}s/s1", answer)
    question = dataclasses.replace(ask(cloud), image=image)
    if exception is None:
        assert request.accepted(cloud, question)
        return
    with pytest.raises(Refusal) as raised:
        request.accepted(cloud, question)
    refusal = raised.value
    assert (refusal.exception, refusal.stage, refusal.http) == (exception, "api", 400)


def test_what_is_not_the_projects_to_use_is_the_explanation():
    cloud, question = on_behalf(flavor=[OWN])
    found = explain.explain(cloud, question).judgement
    assert isinstance(found.refusal, NotForProject)
    assert (found.refusal.kind, found.refusal.name) == ("flavor", "gold")
    with pytest.raises(NotForProject):
        explain.candidates(cloud, question)


def test_an_image_name_that_two_have_is_ambiguous():
    twins = {"images": [ROCKY, {**ROCKY, "id": CMP01}]}
    images = {f"{NAMED_ROCKY}&os_hidden=false": twins}
    with pytest.raises(AmbiguousName):
        ask(RecordedCloud(image=images))


@pytest.mark.parametrize("shown", ["public", "private"])
def test_another_project_s_community_image_of_the_name_is_not_the_one_that_is_meant(
    shown,
):
    ours = {**ROCKY, "visibility": shown, "owner": OWN}
    theirs = {**ROCKY, "id": CMP01, "visibility": "community", "owner": OTHER}
    for owner, ids in ((OTHER, [ours["id"]]), (OWN, [CMP01, ours["id"]])):
        listed = {"images": [{**theirs, "owner": owner}, ours]}
        cloud = RecordedCloud(image={f"{NAMED_ROCKY}&os_hidden=false": listed})
        found = lookup.images_named(cloud, "rocky")
        assert [each["id"] for each in found] == ids
    alone = RecordedCloud(
        image={f"{NAMED_ROCKY}&os_hidden=false": {"images": [theirs]}}
    )
    assert lookup.images_named(alone, "rocky") == (theirs,)


def test_placement_may_refuse_the_request():
    query = f"required=CUSTOM_GOLD&root_required=!COMPUTE_STATUS_DISABLED&{SIZE}"
    refusal = CloudBroke("placement", "No such trait(s): CUSTOM_GOLD.", 400)
    known = {"traits": ["CUSTOM_GOLDEN", "COMPUTE_STATUS_DISABLED"]}
    bodies = {f"/allocation_candidates?{query}": refusal, "/traits": known}
    cloud = RecordedCloud(placement=bodies)
    with pytest.raises(TraitMissing, match="Did you mean CUSTOM_GOLDEN"):
        explain.candidates(cloud, ask(cloud))
    explanation, found = explained(cloud, ask(cloud))
    assert isinstance(found.refusal, TraitMissing)
    assert [each.subject for each in explanation.advice] == ["CUSTOM_GOLDEN"]


def test_amounts_are_asked_for_while_the_list_of_providers_is_read():
    cloud = RecordedCloud()
    get, asked = cloud.placement.get, threading.Event()

    def wait(path, params=None, *more, **options):
        if path == "/resource_providers" and not params:
            assert asked.wait(10)
        if "resources" in (params or {}):
            asked.set()
        return get(path, params, *more, **options)

    cloud.placement.get = wait
    found = explain.explain(cloud, ask(cloud), want_fixes=False).judgement
    assert found.agrees
    assert len(found.hosts) == 3


SIZE = "resources=DISK_GB:20,MEMORY_MB:4096,VCPU:4"


NO_NODES = {"/os-hypervisors/detail": {"hypervisors": []}}


@pytest.mark.parametrize(
    ("unmarked", "nodes", "are_new"),
    [
        (recorded.providers(recorded.GPU), {}, True),
        (recorded.providers(CMP02, recorded.GPU), {}, None),
        (CloudBroke("placement", "No such trait(s): OWNER_NOVA.", 400), {}, False),
        (recorded.providers(), NO_NODES, None),
    ],
)
def test_nova_computes_are_new_when_all_their_providers_are_marked(
    unmarked, nodes, are_new
):
    cloud = RecordedCloud(placement={UNMARKED: unmarked}, compute=nodes)
    found = settings.of_cloud(cloud, SettingsSources(nova_release=34))
    assert found.all_computes_new is are_new


def test_a_placement_that_fails_is_no_answer_to_whether_they_are_new():
    broken = CloudBroke("placement", "Internal Server Error", 500, passing=True)
    cloud = RecordedCloud(placement={UNMARKED: broken})
    with pytest.raises(CloudBroke):
        settings.of_cloud(cloud, SettingsSources(nova_release=34))


def test_an_older_release_does_not_ask(cloud):
    assert settings.of_cloud(cloud, SettingsSources()).release == 33
    assert cloud.placement.asked == []
