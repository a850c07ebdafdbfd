"""Random files, read by oslo.config's ConfigOpts and by this project alike."""

import random

import pytest
from oslo_config import cfg

from osc_traitsched.config import nova_conf
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import assumption

WALLABY = 23
REFUSED = "refused"
BOOLEANS = ["true", "Off", "1", "'no'", "ye", "", "2", "$image_metadata_prefilter"]
NUMBERS = ["1", "0", "-5", "1000", "x", "", " 77", "0x10", "'12'", "1_000"]
TEXTS = ["az1", '"az', "a=b:c", "x\n y", r"\$d", "$$d", "$1", "$nope", "${a.b}"]
LISTS = ["A", " A , B ,", "[A,B]", "A\n  ,B\n\tC", "A,,B", "A\n# no\n  B"]
TEXTS += ["$default_schedule_zone", "${scheduler.max_placement_results}"]
LISTS += ["$default_schedule_zone", "$enabled_filters"]
ODD = ["", "# a", "; a=b", "[other]", "workers = 1"]
BROKEN = ["junk", "  cont", "=x", "[]", "[x"]


def registered():
    """Return the options as Nova's release 23 registers them."""
    conf = cfg.ConfigOpts()
    for option in existing():
        section, key = split(option.name)
        if isinstance(option.default, bool):
            conf.register_opt(cfg.BoolOpt(key, default=False), section)
    number = cfg.IntOpt("max_placement_results", default=1000, min=1)
    conf.register_opt(number, "scheduler")
    filters = cfg.ListOpt(
        "enabled_filters",
        default=assumption.Assumptions(WALLABY).value(assumption.ENABLED_FILTERS),
        deprecated_name="scheduler_default_filters",
        deprecated_group="DEFAULT",
    )
    conf.register_opt(filters, "filter_scheduler")
    conf.register_opt(cfg.StrOpt("default_schedule_zone"))
    return conf


def split(name):
    section, _, key = name.rpartition(".")
    return section, key


def text(dice):
    lines = []
    for _ in range(dice.randint(1, 5)):
        section, key = split(dice.choice(assumption.OPTIONS).name)
        lines.append(f"[{dice.choice([section, section, section.title()])}]")
        lines += dice.sample(ODD[:3], dice.randint(0, 2))
        lines.append(f"{key}{dice.choice(['=', ' = ', ': '])}{value(dice, key)}")
        if dice.random() < 0.1:
            lines += ["[DEFAULT]", f"scheduler_default_filters={dice.choice(LISTS)}"]
        lines += dice.sample(ODD, dice.randint(0, 2))
        lines += [dice.choice(BROKEN)] if dice.random() < 0.02 else []
    return dice.choice(["\n", "\n", "\r\n"]).join(lines)


def value(dice, key):
    kinds = {
        "max_placement_results": NUMBERS,
        "enabled_filters": LISTS,
        "default_schedule_zone": TEXTS,
    }
    return dice.choice(kinds.get(key, BOOLEANS))


def by_oslo(paths):
    conf = registered()
    args = [f"--config-{'dir' if path.is_dir() else 'file'}={path}" for path in paths]
    quiet = {"default_config_files": [], "default_config_dirs": [], "use_env": False}
    try:
        conf(args, project="nova", **quiet)
    except cfg.ConfigFileParseError:
        return REFUSED
    found = {}
    for section, key in (split(option.name) for option in existing()):
        try:
            group = conf if section == "DEFAULT" else conf[section]
            found[f"{section}.{key}"] = plain(group[key])
        except (ValueError, RecursionError, cfg.Error):
            found[f"{section}.{key}"] = REFUSED
    return found


def by_ourselves(paths):
    try:
        files = nova_conf.read(map(str, paths))
    except BadConfiguration:
        return REFUSED
    reader = nova_conf._Reader(files, WALLABY, {})
    found = {}
    for option in existing():
        try:
            setting = reader.setting(option)
        except BadConfiguration:
            found[option.name] = REFUSED
        else:
            unset = option.default_in(WALLABY)
            found[option.name] = plain(setting.value if setting else unset)
    return found


def existing():
    return [option for option in assumption.OPTIONS if option.is_in(WALLABY)]


def plain(found):
    return list(found) if isinstance(found, tuple) else found


@pytest.mark.parametrize("seed", range(20))
def test_both_find_the_same_values_and_refuse_the_same(tmp_path, seed):
    dice = random.Random(seed)
    for n in range(10):
        paths = []
        for name in ["b.conf", "a.conf", "conf.d"][: dice.randint(1, 3)]:
            path = tmp_path / f"{n}{name}"
            if name == "conf.d":
                path.mkdir()
                for each in ("10.conf", "9.conf", ".h.conf", "x.txt"):
                    (path / each).write_bytes(text(dice).encode())
            else:
                path.write_bytes(text(dice).encode())
            paths.append(path)
        assert by_ourselves(paths) == by_oslo(paths)
