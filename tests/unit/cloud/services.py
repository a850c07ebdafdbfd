"""Services that answer what a test says, and keep what they were asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any


@dataclasses.dataclass
class Answering:
    """A service whose answers a function gives."""

    answer: Callable[[str, Mapping[str, str]], Any]
    service_type: str = "compute"
    asked: list[tuple[str, dict[str, str]]] = dataclasses.field(default_factory=list)

    def get(
        self,
        path: str,
        params: Any = None,
        microversion: Any = None,
        timeout: Any = None,
    ) -> Any:
        self.asked.append((path, dict(params or {})))
        return self.answer(path, params or {})
