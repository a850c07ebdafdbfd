"""The rules of what Nova asks Placement, by name, and the cases that show them."""

from __future__ import annotations

import dataclasses
import pathlib
import urllib.parse
from collections.abc import Mapping

import yaml

from tests.fidelity.ours import Answer

PATH = pathlib.Path(__file__).with_name("rules.yaml")


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule; rules.yaml says what its parts are.

    :ivar difference: for a difference of two releases these, else empty
    """

    rule: str
    cases: tuple[str, ...]
    difference: str = ""
    filter: str = ""
    since: int = 20
    asks: str = ""
    lacks: str = ""
    refused: str = ""

    def is_shown_by(self, answers: Mapping[int, Answer]) -> bool:
        """Tell whether one of its cases has such answers, by release."""
        if self.difference:
            older, newer = map(int, self.difference.split("-"))
            return answers[older] != answers[newer]
        return all(
            self._holds(answer) is (release >= self.since)
            for release, answer in answers.items()
            if release >= self.since or self.asks
        )

    def _holds(self, answer: Answer) -> bool:
        if self.refused:
            return bool(answer.get("refused") == self.refused)
        query = urllib.parse.unquote(answer.get("query", ""))
        if self.lacks:
            return bool(query) and self.lacks not in query
        return self.asks in query


def read() -> list[Rule]:
    """Return all rules, those on differences last."""
    found = yaml.safe_load(PATH.read_text())
    return [Rule(**{**each, "cases": tuple(each["cases"])}) for each in found]
