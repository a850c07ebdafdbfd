"""An answer that needs what the user may not read is unknown: exit 8."""

from __future__ import annotations

import pytest

from osc_traitsched.cloud import service
from osc_traitsched.core.errors import CloudBroke, Forbidden

FORBIDDEN = Forbidden("compute", "no", "project", ("reader",))


@pytest.fixture
def denied(cloud, monkeypatch):
    """Let Nova deny some reads to the user."""
    read = cloud.compute_get

    def deny(*denied, problem=FORBIDDEN):
        def checked(parts, params):
            if parts[0] in denied:
                raise problem
            return read(parts, params)

        monkeypatch.setattr(cloud, "compute_get", checked)

    return deny


def test_a_denied_list_is_unknown_and_a_broken_service_an_error(denied, trait_sched):
    denied("os-aggregates")
    assert trait_sched("check").code == 8
    assert trait_sched("check", "--exit-zero").code == 8
    denied("os-aggregates", problem=CloudBroke("compute", "broken", 500))
    assert trait_sched("check").code == 1


def test_an_answer_without_what_was_denied_is_unknown(denied, cloud, trait_sched):
    denied("servers")
    done = trait_sched("host", "show", "cmp00")
    assert done.code == 8
    assert trait_sched("host", "show", "cmp00", "--exit-zero").code == 0
    assert "Not read, for lack of rights: servers of other projects" in done.err


def test_a_write_is_an_error_where_a_list_is_denied(denied, trait_sched):
    denied("os-aggregates")
    isolate = ("isolate", "gold", "CUSTOM_GOLD")
    assert trait_sched(*isolate).code == 1
    assert trait_sched(*isolate, "--dry-run").code == 8


def test_only_a_lack_of_rights_is_noted(cloud):
    service.note_unread(cloud, "lists", CloudBroke("compute", "broken", 500))
    assert service.unread(cloud) == []
    service.note_unread(cloud, "lists", FORBIDDEN)
    assert service.unread(cloud) == ["lists"]
