"""What is read in one thread while another goes on."""

import threading

import pytest

from osc_traitsched.cloud.rest import Later, LaterOfEach
from osc_traitsched.core.errors import PlacementRefuses


def test_work_is_begun_at_once_and_its_value_is_waited_for():
    begun, may_end = threading.Event(), threading.Event()

    def work():
        begun.set()
        assert may_end.wait(10)
        return threading.current_thread()

    later = Later(work)
    assert begun.wait(10)
    may_end.set()
    thread = later.value()
    assert thread is not threading.current_thread()
    # A service that hangs does not keep the process.
    assert thread.daemon
    assert later.value() is thread


def test_an_error_is_raised_where_the_value_is_wanted():
    def work():
        raise PlacementRefuses("no such class")

    later = Later(work)
    with pytest.raises(PlacementRefuses, match="no such class"):
        later.value()


def test_a_few_threads_work_out_the_values_of_all_keys():
    together, threads = threading.Barrier(2), set()

    def work(key):
        threads.add(threading.current_thread())
        # Two are under way at once, or this never ends.
        together.wait(10)
        return key.upper()

    keys = "abcdefgh"
    assert LaterOfEach(work, keys).values() == {key: key.upper() for key in keys}
    assert len(threads) == 2
    assert LaterOfEach(work, "").values() == {}


def test_the_error_of_one_key_is_raised_where_the_values_are_wanted():
    def work(key):
        if key == "b":
            raise PlacementRefuses("no such class")
        return key

    later = LaterOfEach(work, "abcd")
    with pytest.raises(PlacementRefuses, match="no such class"):
        later.values()
