"""What the shell completes, by the file that ``openstack complete`` prints."""

from __future__ import annotations

import subprocess

import pytest

from tests.functional import shell

#: What the package bash-completion gives to the file.
_WORDS = """
_get_comp_words_by_ref() {
    words=("${COMP_WORDS[@]}")
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD - 1]}
}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    done = shell.run({}, "complete", "--name", "openstack")
    if "'NoneType' object has no attribute 'request'" in done.err:
        pytest.skip("this osc-placement names no commands without a login")
    assert done.code == 0
    path = tmp_path_factory.mktemp("completion") / "openstack"
    path.write_text(_WORDS + done.out, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("trait-sched un", ["unisolate"]),
        ("trait-sched config nova", ["nova-conf"]),
        ("trait-sched explain --no-f", ["--no-fixes"]),
        ("trait-sched add --availability", ["--availability-zone"]),
    ],
)
def test_commands_and_their_options_are_completed(file, typed, completed):
    words = ["openstack", *typed.split()]
    script = (
        f"source {file}; COMP_WORDS=({' '.join(words)}); "
        f'COMP_CWORD={len(words) - 1}; _openstack; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout.split(), done.stderr) == (completed, "")
