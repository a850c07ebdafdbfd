"""Parts of a document as they are read: what is wrong is kept, and reading goes on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from osc_traitsched.config.document import Branch
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.names import near_names
from osc_traitsched.core.wanted.model import Place, Text

#: Of names in one document, those that aliases repeat included.
_MOST_NAMES = 100_000

#: Returns what is wrong with a text, or nothing.
Check = Callable[[str], str]


def any_text(text: str) -> str:
    """Take every name; one that is empty is refused anyway."""
    return ""


class Fields:
    """Reads mappings, lists and names.

    :ivar mistakes: all that was wrong so far
    """

    def __init__(self) -> None:
        self.mistakes: list[BadConfiguration] = []
        self._names = 0

    def wrong(self, branch: Branch, reason: str) -> None:
        """Keep a mistake on a part."""
        sentence = f"{branch.subject} {reason}"
        self.mistakes.append(BadConfiguration(branch.path, branch.line, sentence))

    def entries(self, branch: Branch) -> Iterator[tuple[Branch, Branch]]:
        """Yield the keys of a mapping, and what is behind each."""
        try:
            found = branch.entries()
        except BadConfiguration as exc:
            self.mistakes.append(exc)
            return
        if branch.is_null:
            self.wrong(branch, "has nothing behind it" if branch.name else "is empty")
        yield from found

    def named(
        self, branch: Branch, check: Check = any_text
    ) -> Iterator[tuple[Text, Branch]]:
        """Yield the names that are keys, and what is behind each."""
        for key, value in self.entries(branch):
            name = self.text(key, check, "has an empty name")
            if name is not None:
                yield name, value

    def known(self, branch: Branch, keys: Collection[str]) -> dict[str, Branch]:
        """Return what is behind the keys that there can be."""
        found = {}
        for key, value in self.entries(branch):
            name = key.text() or ""
            if name in keys:
                found[name] = value
            else:
                self.wrong(key, f"has no key {name!r}{_meant(name, keys)}")
        return found

    def texts(self, branch: Branch, check: Check = any_text) -> tuple[Text, ...]:
        """Return the names of a list; none once there were far too many."""
        if self._names > _MOST_NAMES:
            return ()
        items = branch.items()
        if items is None:
            self.wrong(branch, "is not a list")
            return ()
        self._names += len(items)
        if self._names > _MOST_NAMES:
            self.wrong(branch, f"makes it more than {_MOST_NAMES} names")
            return ()
        found = (self.text(item, check) for item in items)
        return tuple(each for each in found if each is not None)

    def text(
        self, branch: Branch, check: Check = any_text, empty: str = "is empty"
    ) -> Text | None:
        """Return a name as it is written, whatever YAML would take it for.

        :param empty: what to say of one without letters
        """
        text = branch.text()
        if text is None:
            self.wrong(branch, "is not a name")
        elif branch.is_null or not text.strip():
            self.wrong(branch, empty)
        elif reason := check(text):
            self.wrong(branch, reason)
        else:
            return Text(text, Place(branch.path, branch.line))
        return None

    def is_true(self, branch: Branch) -> bool:
        """Tell whether it says ``true``, the one thing that it can say."""
        if branch.text() == "true" and not branch.is_string():
            return True
        self.wrong(branch, "is not true; leave it out for what is not so")
        return False


def _meant(name: str, keys: Collection[str]) -> str:
    near = " or ".join(near_names(name, keys))
    return f"; did you mean {near}?" if near else f"; there are {', '.join(keys)}"
