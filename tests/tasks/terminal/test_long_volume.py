"""Volumes: two readers against what images were built from, and every near miss on some image."""

import contextlib
import io
import signal
import sys

import pytest

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.source import draft_of
from hexathlon.tasks.terminal.templates.long.volume import near_misses, volume_cases
from hexathlon.tasks.terminal.templates.long.volume.format import HELD_OUT_FEATURES, drawn_format
from hexathlon.tasks.terminal.templates.long.volume.images import volume_image
from hexathlon.tasks.terminal.templates.long.volume.reader import FAULTS, reader

SPLITS = ("train", "test", "dev", "heldout", "test", "test")
"""Split of the format of each seed."""


class Overtime(Exception):
    """A near miss runs for too long."""


def _stop(*_):
    raise Overtime


def printed(code, path):
    """What a reader prints for an image; a note if it fails or takes longer than two seconds."""
    out, before = io.StringIO(), sys.argv
    sys.argv = ["manifest.py", str(path)]
    old = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, 2.0)
    try:
        with contextlib.redirect_stdout(out):
            exec(code, {"__name__": "__main__"})
    except SystemExit as end:
        assert end.code in (3, 4)
    except Exception as error:
        return f"failed: {error!r}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        sys.argv = before
    return out.getvalue()


def cases(seed, folder):
    """The format of a seed, and its cases as paths and manifests."""
    dice = Dice("volumes", seed)
    form = drawn_format(dice, SPLITS[seed % len(SPLITS)])
    made = {}
    for name, case in volume_cases(form, dice):
        image, manifest = volume_image(form, case, dice)
        made[name] = (folder / f"{name}.img", manifest)
        made[name][0].write_bytes(image)
    return form, made


@pytest.mark.parametrize("seed", range(6))
def test_both_readers_print_what_the_image_was_built_from(seed, tmp_path):
    form, made = cases(seed, tmp_path)
    for other in (False, True):
        code = compile(reader(form, other=other), "manifest.py", "exec")
        for name, (path, manifest) in made.items():
            assert printed(code, path) == manifest, (name, other)


@pytest.mark.parametrize("seed", range(3))
def test_every_near_miss_fails_on_some_image(seed, tmp_path):
    form, made = cases(seed, tmp_path)
    misses = near_misses(form)
    assert len(misses) >= 28
    for miss, text in misses.items():
        code = compile(text, "manifest.py", "exec")
        assert any(printed(code, path) != manifest for path, manifest in made.values()), miss


def test_every_fault_belongs_to_some_format():
    found = set()
    for seed in range(40):
        found |= near_misses(drawn_format(Dice("formats", seed), "test")).keys()
    assert FAULTS.keys() <= found


def test_some_features_are_never_in_train_or_dev():
    for split, expected in (("train", False), ("dev", False), ("test", True)):
        drawn = set().union(*(drawn_format(Dice(split, n), split).features for n in range(20)))
        assert (set(HELD_OUT_FEATURES) <= drawn) is expected
        assert expected or not set(HELD_OUT_FEATURES) & drawn


def test_the_samples_show_what_the_header_states_wrongly(tmp_path):
    """A reader that believes the header in one point disagrees with a sample."""
    from dataclasses import replace

    draft = draft_of(get_source("terminal").build("terminal/long_volume/hard/test/00000"))
    form = drawn_format(Dice("long_volume", "hard", "test", draft_seed()), "test")
    believed = {
        "head": replace(form, head_absolute=not form.head_absolute),
        "inode_base": replace(form, inode_base=1 - form.inode_base),
        "tail_unit": replace(form, tail_unit=4 if form.tail_unit == 1 else 1),
        "run": replace(form, run_bias=1 - form.run_bias),
    }
    for name in set(form.wrong) & believed.keys():
        code = compile(reader(believed[name]), "manifest.py", "exec")
        right = compile(reader(form), "manifest.py", "exec")
        unlike = 0
        for path in [path for path in draft.files if path.endswith(".img")]:
            image = tmp_path / "sample.img"
            image.write_bytes(draft.files[path])
            manifest = draft.files[path.replace(".img", ".manifest")].decode()
            assert printed(right, image) == manifest
            unlike += printed(code, image) != manifest
        assert unlike >= 2, name


def draft_seed():
    """Seed of the first task of the test split."""
    return get_source("terminal").build("terminal/long_volume/hard/test/00000").seed
