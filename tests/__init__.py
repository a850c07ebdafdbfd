"""All tests; the checkout comes last on the path, after what is installed."""

import os
import pathlib
import sys

_CHECKOUT = str(pathlib.Path(__file__).resolve().parents[1])
# "python -m tests.fidelity" has it first, and would test it instead of the wheel.
sys.path[:] = [p for p in sys.path if os.path.abspath(p) != _CHECKOUT] + [_CHECKOUT]
