"""What all tests need."""

from __future__ import annotations

import signal

# A shell starts its background jobs with SIGINT ignored, and child processes inherit
# that. Ctrl-C must interrupt the commands under test, however the tests were started.
signal.signal(signal.SIGINT, signal.default_int_handler)
