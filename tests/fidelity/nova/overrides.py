"""Options of nova.conf that are set for one case."""

import contextlib


@contextlib.contextmanager
def overridden(conf, options):
    """Set those options that this release has, by ``section.name``."""
    done = []
    try:
        for full, value in options.items():
            section, _, name = full.rpartition(".")
            section = None if section == "DEFAULT" else section
            with contextlib.suppress(Exception):
                conf.set_override(name, value, section)
                done.append((name, section))
        yield
    finally:
        for name, section in done:
            conf.clear_override(name, section)
