"""A small cloud in memory that commands run in."""

from __future__ import annotations

import textwrap

import pytest

from osc_traitsched.commands import base, write_args
from tests.functional import shell
from tests.unit.app.living import LivingCloud


@pytest.fixture
def cloud(monkeypatch):
    found = LivingCloud()
    found.flavor("golden")
    found.flavor("small")

    def logged_in(command):
        command._clouds += (found,)
        return found

    monkeypatch.setattr(base.Command, "cloud", logged_in)
    monkeypatch.setattr(write_args, "_SETTLING", 0.0)
    return found


@pytest.fixture
def trait_sched(cloud, tmp_path, monkeypatch):
    """Runs a verb on files that are written first, by their names."""
    monkeypatch.chdir(tmp_path)

    def run(verb, *arguments, **texts):
        for name, text in texts.items():
            body = "version: 1\n" + textwrap.dedent(text).lstrip("\n")
            (tmp_path / f"{name}.yaml").write_text(body, encoding="utf-8")
        login = shell.login("http://nowhere")
        return shell.run(login, "trait-sched", verb, *arguments)

    return run


@pytest.fixture
def apply(trait_sched):
    def run(text, *more):
        return trait_sched("apply", "w.yaml", "-f", "json", *more, w=text)

    return run


@pytest.fixture
def plan(trait_sched, cloud):
    """Plans a text, or the file that was applied last."""

    def run(text=None, *more, form="json"):
        texts = {} if text is None else {"w": text}
        writes = len(cloud.written)
        done = trait_sched("plan", "w.yaml", "-f", form, *more, **texts)
        assert len(cloud.written) == writes
        return done

    return run
