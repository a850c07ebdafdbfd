"""What root volumes are made of, of recorded answers."""

from __future__ import annotations

import types

from osc_traitsched.cloud import request_parts
from tests.unit.cloud.services import Answering

RAW, GOLD = {"image_id": "raw"}, {"image_id": "gold", "trait:CUSTOM_GOLD": "required"}


def volume(number, image, *attached):
    """Return a body; each attachment is a server and a device."""
    attachments = [{"server_id": s, "device": device} for s, device in attached]
    metadata = {"volume_image_metadata": image} if image else {}
    return {"id": f"v{number}", "attachments": attachments, **metadata}


def root_images(roots, *bodies):
    """Return what is found, and how often Cinder was asked."""

    def answer(path, params):
        assert path == "/volumes/detail"
        assert (params["all_tenants"], params["bootable"]) == ("1", "true")
        return {"volumes": [] if "marker" in params else list(bodies)}

    service = Answering(answer, "block-storage")
    cloud = types.SimpleNamespace(block_storage=service)
    return request_parts.root_images(cloud, roots), len(service.asked)


def test_the_root_volume_is_the_one_at_the_root_device():
    found, asked = root_images(
        {"s1": "/dev/vda", "s2": "/dev/vda", "s3": ""},
        volume(1, RAW, ("s1", "/dev/vda")),
        volume(2, GOLD, ("s1", "/dev/vdb"), ("s2", "/dev/vda")),
        volume(3, None, ("s3", "/dev/vdc")),
        volume(4, RAW, ("other", "/dev/vda")),
        volume(5, RAW),
    )
    assert found == {"s1": RAW, "s2": GOLD, "s3": {}}
    assert asked == 2


def test_a_root_volume_that_can_not_be_told_is_left_out():
    found, _ = root_images(
        {"s1": "", "s2": "/dev/vda"},
        volume(1, RAW, ("s1", "/dev/vda")),
        volume(2, GOLD, ("s1", "/dev/vdb")),
    )
    assert found == {}


def test_equal_images_are_kept_once():
    found, _ = root_images(
        {"s1": "/dev/vda", "s2": "/dev/vda"},
        volume(1, dict(RAW), ("s1", "/dev/vda")),
        volume(2, dict(RAW), ("s2", "/dev/vda")),
    )
    assert found["s1"] is found["s2"]
