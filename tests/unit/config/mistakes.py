"""What is said of files of a desired state."""

from __future__ import annotations

import pytest

from osc_traitsched.config import desired
from osc_traitsched.core.errors import Mistakes


def said(*paths):
    """Return the lines of all mistakes."""
    with pytest.raises(Mistakes) as caught:
        desired.read(paths)
    return [str(each) for each in caught.value.mistakes]
