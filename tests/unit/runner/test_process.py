"""The other Python is started, and whatever keeps it from answering is one error."""

import ast
import json
import os
import pathlib
import shlex
import subprocess
import sys

import pytest

from osc_traitsched.core.nova.own import NovaPythonFails
from osc_traitsched.runner import document

RUNNER = pathlib.Path(document.__file__).with_name("nova_runner.py")
EXAMPLES = pathlib.Path(__file__).parents[3] / "examples" / "nova_filters"
SENT = (RUNNER, *sorted(EXAMPLES.glob("*.py")))

#: Answers the last line of its input with its length, and prints before.
ECHO = """import json, sys
text = sys.stdin.read()
print("a banner")
last = text.splitlines()[-1][:13]
print(json.dumps({"plugins": [], "length": len(text), "last": last}))
"""


def failure(command, timeout=30.0):
    with pytest.raises(NovaPythonFails) as raised:
        document.ask(command, {"plugins": []}, timeout)
    assert raised.value.command == command
    return raised.value.kind, raised.value.reason


@pytest.fixture
def script(tmp_path):
    """Write a program for this Python, and return the command that runs it."""

    def write(text):
        path = tmp_path / "it's a program.py"
        path.write_text(text)
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"

    return write


def test_program_and_question_go_through_standard_input(script):
    answer = document.ask(script(ECHO), {"hosts": ["h" * 100_000]}, 30.0)
    assert answer["last"] == 'main_packed("'
    # The question is packed.
    assert answer["length"] < 50_000


def test_a_python_without_nova_says_so():
    answer = document.ask(sys.executable, {"plugins": []}, 60.0)
    assert answer["error"] == "no-nova"
    version = ".".join(map(str, sys.version_info[:3]))
    assert answer["text"] == f"no module nova in {sys.executable} (Python {version})"


def test_a_path_with_spaces_is_one_word(tmp_path):
    python = tmp_path / "a python"
    python.touch()
    assert document.arguments(str(python)) == [str(python)]


def test_a_virtual_environment_stands_for_its_python(tmp_path):
    assert document.arguments(str(tmp_path)) == [str(tmp_path / "bin" / "python")]


def test_a_command_line_is_split_as_a_shell_does():
    found = document.arguments("podman exec -i 'nova scheduler' python3")
    assert found == ["podman", "exec", "-i", "nova scheduler", "python3"]


def test_what_is_not_there_can_not_be_started(tmp_path):
    kind, reason = failure("no-such-program python3")
    assert (kind, reason) == ("not-started", "No such file or directory")
    assert failure(str(tmp_path))[0] == "not-started"
    assert failure("python3 '") == ("not-started", "No closing quotation")
    assert failure(" ")[0] == "not-started"


def test_a_file_that_may_not_be_run_can_not_be_started(tmp_path):
    path = tmp_path / "python"
    path.touch(mode=0o600)
    assert failure(str(path)) == ("not-started", "Permission denied")


def test_a_command_that_does_not_pass_standard_input_on_is_silent():
    assert failure("true") == ("silent", "")


def test_the_last_line_of_its_errors_is_why_there_is_no_answer(script):
    text = 'import sys; print("warning\\n\\nno such container", file=sys.stderr)'
    assert failure(script(text)) == ("no-answer", "no such container")
    assert failure("false") == ("no-answer", "it exited with 1")
    for line in ("[1]", '{"level": "info"}'):
        assert failure(script(f"print({line!r})")) == ("no-answer", line)


def test_it_may_not_take_longer_than_it_is_given(script):
    text = "import time; time.sleep(60)"
    assert failure(script(text), 0.5) == ("timeout", "0.5")


def test_the_runner_is_a_program_by_itself(tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", str(RUNNER)],
        input=json.dumps({"plugins": []}).encode(),
        capture_output=True,
        cwd=tmp_path,
        check=True,
    )
    assert json.loads(done.stdout)["error"] == "no-nova"


@pytest.mark.parametrize("path", SENT, ids=lambda path: path.name)
def test_what_runs_in_the_python_of_train_is_of_its_language(path):
    ast.parse(path.read_text("utf-8"), feature_version=(3, 6))


def test_a_command_line_may_be_longer_than_any_file_name():
    command = f"ssh -o {'x' * 300} ctl1 python3"
    assert document.arguments(command) == ["ssh", "-o", "x" * 300, "ctl1", "python3"]


#: Modules that are imported before and by the runner, or while a Python starts.
TRAPS = (
    *("base64", "json", "logging", "typing", "os", "site", "posix", "sys", "codecs"),
    *("sitecustomize", "usercustomize", "inspect", "tempfile", "zlib", "_bootlocale"),
    *("nova", "encodings/__init__", "encodings/utf_8", "oslo_config/__init__"),
)

#: Stands for Nova, and says what the other Python can see.
NOVA = """import os
login = [name for name in os.environ if name.startswith("OS_")]
raise ImportError(f"{login} {os.listdir('.')}")
"""


@pytest.fixture
def trapped(tmp_path, monkeypatch):
    """The current folder: whatever module of it is imported leaves a file beside it."""
    folder = tmp_path / "here"
    for name in TRAPS:
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(tmp_path / 'sprung')!r}, 'w').write({name!r})")
    python = folder / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OS_PASSWORD", "secret")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    yield folder
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()


@pytest.mark.parametrize("safe", ["", "1"])
@pytest.mark.parametrize("path", [None, "./", ":/nowhere:", "/nowhere:."])
@pytest.mark.parametrize(
    "command",
    [
        "{python}",
        "env {python}",
        "{python} -S",
        "./venv/bin/python",
        "env ./venv/bin/python -u",
        "sh -c 'exec {python} -'",
    ],
)
def test_no_code_of_the_current_folder_runs(command, path, safe, trapped, monkeypatch):
    monkeypatch.setenv("PYTHONSAFEPATH", safe)
    if path is not None:
        monkeypatch.setenv("PYTHONPATH", path)
    asked = command.format(python=shlex.quote(sys.executable))
    assert document.ask(asked, {"plugins": []}, 60.0)["error"] == "no-nova"


def test_a_far_python_drops_the_folder_that_its_own_pythonpath_names(trapped):
    (trapped / "encodings" / "__init__.py").unlink()
    for name in ("os", "site", "codecs", "sitecustomize", "usercustomize", "zlib"):
        (trapped / f"{name}.py").unlink()
    # It starts with this variable as ssh's other end would.
    command = f"env PYTHONPATH=: {shlex.quote(sys.executable)}"
    assert document.ask(command, {"plugins": []}, 60.0)["error"] == "no-nova"


def test_the_folders_of_the_environment_are_still_imported_from(trapped, monkeypatch):
    (trapped / "plugins").mkdir()
    (trapped / "plugins" / "nova.py").write_text(NOVA)
    for path in ("plugins", f":{trapped}/plugins"):
        monkeypatch.setenv("PYTHONPATH", path)
        answer = document.ask(sys.executable, {"plugins": []}, 60.0)
        # It has no login, and stands in an empty folder.
        assert answer["text"].startswith("ImportError: [] [] in ")


def test_a_relative_path_is_of_the_current_folder(trapped):
    python = str(trapped / "venv" / "bin" / "python")
    for command in ("venv", "./venv", "venv/bin/python"):
        assert os.path.normpath(document.arguments(command)[0]) == python
        answer = document.ask(command, {"plugins": []}, 60.0)
        assert answer["error"] == "no-nova"


def test_a_name_on_the_path_is_no_folder_of_the_same_name(trapped, monkeypatch):
    (trapped / "python3" / "bin").mkdir(parents=True)
    (trapped / "python3" / "bin" / "python").symlink_to("/bin/false")
    monkeypatch.setenv(
        "PATH", os.path.dirname(sys.executable) + os.pathsep + os.defpath
    )
    assert document.arguments("python3") == ["python3"]
    assert document.ask("python3", {"plugins": []}, 60.0)["error"] == "no-nova"
