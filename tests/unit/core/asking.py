"""Questions with fields of their own and of their spec, both by name."""

import dataclasses

from osc_traitsched.core.nova.question import Question, ServerSpec

_OF_SPEC = frozenset(each.name for each in dataclasses.fields(ServerSpec))
_OF_SPEC -= {"flavor", "image", "project", "group"}


def asking(question: Question, **changes) -> Question:
    """Return the question with changes, each where it belongs."""
    spec = {name: changes.pop(name) for name in _OF_SPEC & changes.keys()}
    return dataclasses.replace(question, **changes).with_spec(**spec)
