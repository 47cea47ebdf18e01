"""Message parts: images are their pixels, files their bytes, text alone stays a string."""

import copy
import hashlib
import io
import pickle
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as pillow

from hexathlon.evaluators.content import (
    MAX_BYTES,
    MAX_PARTS,
    MAX_PIXELS,
    ContentError,
    File,
    Image,
    Text,
    content_from_json,
    content_to_json,
    described,
    joined,
    media_of,
    parts_of,
    text_of,
)

PIXELS = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
IMAGE = Image.from_array(PIXELS)
FILE = File("notes.csv", "text/csv", b"a,b\n1,2\n")
MIXED = (Text("Look:"), IMAGE, Text("and read"), FILE)


def saved(array: np.ndarray, form: str, mode: str = "RGB", **options) -> bytes:
    buffer = io.BytesIO()
    pillow.fromarray(array).convert(mode).save(buffer, form, **options)
    return buffer.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG file with a declared size and almost no data."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [b"IHDR" + header, b"IDAT" + zlib.compress(bytes(99))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
        for chunk in chunks
    )


def test_image_hash_depends_on_pixels_not_encoding():
    encodings = [saved(PIXELS, "PNG", compress_level=level) for level in (0, 1, 9)]
    assert len(set(encodings)) == 3
    images = [IMAGE, *map(Image.from_bytes, encodings)]
    assert {image.sha256 for image in images} == {IMAGE.sha256}
    assert len(set(images)) == 1
    assert (
        IMAGE.sha256 == hashlib.sha256(b"hexathlon.image/1 7 5\n" + bytes(range(105))).hexdigest()
    )


def test_image_hash_depends_on_size():
    tall = Image.from_array(PIXELS.reshape(7, 5, 3))
    assert tall.pixels == IMAGE.pixels and tall.sha256 != IMAGE.sha256


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 1 << 32))
def test_an_image_survives_its_png(height, width, seed):
    array = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    image = Image.from_array(array)
    assert Image.from_bytes(image.png()) == image and (image.array() == array).all()


def test_jpeg_and_other_modes_are_read():
    assert Image.from_bytes(saved(PIXELS, "JPEG")).width == 7
    grey = Image.from_bytes(saved(PIXELS, "PNG", "L"))
    assert (grey.array()[..., 0] == grey.array()[..., 2]).all()
    assert Image.from_bytes(saved(PIXELS, "PNG", "P")).height == 5


def test_transparent_pixels_are_composited_on_white():
    clear = np.zeros((2, 2, 4), np.uint8)
    clear[0, 0] = (10, 20, 30, 255)
    array = Image.from_bytes(saved(clear, "PNG", "RGBA")).array()
    assert array[0, 0].tolist() == [10, 20, 30] and (array[1] == 255).all()


def test_an_image_shares_nothing_with_its_array():
    array = PIXELS.copy()
    image = Image.from_array(array)
    array[...] = 0
    shown = image.array()
    shown[...] = 0
    assert (image.array() == PIXELS).all()


def test_parts_are_values():
    assert pickle.loads(pickle.dumps(MIXED)) == MIXED
    assert copy.deepcopy(MIXED)[1] is IMAGE
    assert len({*MIXED, *MIXED}) == 4
    with pytest.raises(AttributeError):
        IMAGE.width = 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Image.from_array(PIXELS.astype(np.float32)), "uint8 array"),
        (lambda: Image.from_array(PIXELS[..., :2]), "height x width x 3"),
        (lambda: Image.from_array(np.zeros((0, 3, 3), np.uint8)), "1 to 16,777,216 pixels"),
        (lambda: Image(2, 2, b"123"), "expected 12 bytes"),
        (lambda: Image.from_bytes(b"GIF89a"), "PNG or JPEG"),
        (lambda: Image.from_bytes(saved(PIXELS, "BMP")), "PNG or JPEG"),
        (lambda: Image.from_bytes(saved(PIXELS, "PNG")[:-30]), "PNG or JPEG"),
        (lambda: Image.from_bytes(png_header(5000, 5000)), "got 5000 x 5000"),
        (lambda: Image.from_bytes(png_header(10_000, 10_000)), "16,777,216 pixels"),
        (lambda: Image.from_bytes(png_header(60_000, 60_000)), "16,777,216 pixels"),
        (lambda: Image.from_bytes(bytes(MAX_BYTES + 1)), "at most 16,777,216 bytes"),
        (lambda: File("a", "text/csv", bytes(MAX_BYTES + 1)), "at most 16,777,216 bytes"),
        (lambda: File("../a", "text/csv", b""), "without slashes"),
        (lambda: File("", "text/csv", b""), "1 to 255 characters"),
        (lambda: File("a", "text", b""), "media type"),
        (lambda: File("a", "text/<b>", b""), "media type"),
        (lambda: Text(b"a"), "expected a str in a text part"),
        (lambda: parts_of((Text("a"),) * (MAX_PARTS + 1)), "at most 64 parts"),
        (lambda: parts_of(["a"]), "a str or a tuple"),
    ],
)
def test_too_large_or_malformed_content_is_rejected(make, message):
    assert MAX_PIXELS == 16_777_216
    with pytest.raises(ContentError, match=message):
        make()


def test_sixteen_bit_channels_are_rejected():
    buffer = io.BytesIO()
    pillow.fromarray(np.zeros((2, 2), np.uint16)).save(buffer, "PNG")
    with pytest.raises(ContentError, match="eight bits per channel"):
        Image.from_bytes(buffer.getvalue())


def test_text_of_content():
    assert text_of("plain") == "plain"
    assert text_of(MIXED) == "Look:\n\nand read"
    assert described(MIXED) == (
        f"Look:\n\n[image, 7 x 5, sha256 {IMAGE.sha256}]\n\nand read\n\n"
        f"[file notes.csv, text/csv, 8 bytes, sha256 {FILE.sha256}]"
    )
    assert described(content_to_json(MIXED)) == described(MIXED)


def test_texts_are_joined_as_text():
    assert joined(["a", "b"]) == "a\n\nb"
    assert joined([]) == ""
    assert joined(["a", (IMAGE,), ""]) == (Text("a"), IMAGE)


def test_content_round_trips_through_records():
    media = media_of([MIXED, MIXED, "text"])
    assert list(media) == [IMAGE.sha256, FILE.sha256]
    value = content_to_json(MIXED)
    assert [part["type"] for part in value] == ["text", "image", "text", "file"]
    assert not any(isinstance(item, bytes) for part in value for item in part.values())
    assert content_from_json(value, lambda part: media[part["sha256"]]) == MIXED
    assert content_from_json("plain", lambda part: b"") == "plain" == content_to_json("plain")


def test_bytes_with_another_hash_are_detected():
    other = Image.from_array(255 - PIXELS)
    with pytest.raises(ContentError, match=other.sha256):
        content_from_json(content_to_json((IMAGE,)), lambda _: other.png())
    with pytest.raises(ContentError, match="the bytes give"):
        content_from_json(content_to_json((FILE,)), lambda _: FILE.data + b"3")
