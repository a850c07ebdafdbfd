"""The storage that the cloud's volumes pretend to be on. For the services' own Python.

It is Cinder's own fake driver, and lets several servers have one volume.
"""

from __future__ import annotations

from cinder.tests import fake_driver


class Driver(fake_driver.FakeLoggingVolumeDriver):
    """Endless room, and nothing in it."""

    def _update_volume_stats(self) -> None:
        super()._update_volume_stats()
        for pool in self._stats["pools"]:
            pool["multiattach"] = True
