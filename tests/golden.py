"""What a user sees, whole, in files of ``tests/golden`` that one option rewrites."""

from __future__ import annotations

import difflib
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping

import pytest

FILES = pathlib.Path(__file__).parent / "golden"
OPTION = "--update-golden"

Golden = Callable[[str, "str | Iterable[str]"], None]


def names() -> list[str]:
    """All golden files, each as tests name it."""
    files = sorted(FILES.rglob("*.txt"))
    return [path.relative_to(FILES).with_suffix("").as_posix() for path in files]


def screens(states: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """The lines of short texts that stand in one file, each below its name."""
    for name, lines in states.items():
        yield f"=== {name}"
        yield from lines


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a text, or lines, with a golden file, or rewrites the file."""

    def compare(name: str, text: str | Iterable[str]) -> None:
        text = text if isinstance(text, str) else "\n".join(text)
        path = FILES / f"{name}.txt"
        # Some releases of cliff end with an empty line more than others.
        whole = text.rstrip("\n") + "\n"
        if request.config.getoption(OPTION):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(whole, encoding="utf-8")
        found = path.read_text(encoding="utf-8") if path.is_file() else ""
        diff = difflib.unified_diff(
            found.splitlines(), whole.splitlines(), str(path), "now", lineterm=""
        )
        if found != whole:
            pytest.fail("\n".join([f"pytest {OPTION} rewrites it:", *diff]), False)

    return compare
