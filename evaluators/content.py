"""Message content: plain text, or a sequence of text, image and file parts.

Text-only content is a `str`; any other content is a tuple of parts. Parts are immutable values that
can be hashed, compared, pickled and shared between forks. An image is its pixels: its hash covers
size and pixels, so it does not depend on the file encoding.

In records, parts are JSON objects that identify their bytes by hash; the files themselves are left
to `hexathlon.evaluators.records.media`.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "MAX_ANSWER_PARTS",
    "MAX_BYTES",
    "MAX_PARTS",
    "MAX_PIXELS",
    "Content",
    "ContentError",
    "File",
    "Image",
    "Part",
    "Text",
    "check_file",
    "content_from_json",
    "content_to_json",
    "described",
    "joined",
    "media_of",
    "part_from_json",
    "parts_of",
    "text_of",
]

MAX_PIXELS: Final = 1 << 24
"""Maximum pixels of one image: 4096 x 4096."""

MAX_BYTES: Final = 16 << 20
"""Maximum bytes of one file, and of an encoded image."""

MAX_PARTS: Final = 64
"""Maximum parts of one message."""

MAX_ANSWER_PARTS: Final = 1024
"""Maximum parts of all messages between two turns, as joined in a record."""

_MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr")
_LONGEST_NAME = 255
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,63}/[a-z0-9][a-z0-9.+-]{0,126}")


class ContentError(ValueError):
    """Content is malformed, or exceeds its limits."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text part beside other parts."""

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise ContentError(f"expected a str in a text part, got {type(self.text).__name__}")

    def to_json(self) -> dict[str, Any]:
        """Return the part's JSON form for records."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class Image:
    """An image as RGB pixels, eight bits per channel.

    Args:
        width: In pixels.
        height: In pixels.
        pixels: `3 * width * height` bytes, row by row from the top.
    """

    width: int
    height: int
    pixels: bytes = field(repr=False)
    _memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_size(self.width, self.height)
        expected = 3 * self.width * self.height
        if type(self.pixels) is not bytes or len(self.pixels) != expected:
            raise ContentError(
                f"expected {expected} bytes for {self.width} x {self.height} pixels, "
                f"got {len(self.pixels)} of type {type(self.pixels).__name__}"
            )

    @classmethod
    def from_array(cls, array: NDArray[np.uint8]) -> Image:
        """Make an image from a uint8 array of shape (height, width, 3); the array is copied.

        Raises:
            ContentError: If the array has another type or shape, or too many pixels.
        """
        if array.dtype != "uint8" or array.ndim != 3 or array.shape[2] != 3:
            raise ContentError(
                "expected a uint8 array of height x width x 3, "
                f"got {array.dtype} of shape {array.shape}"
            )
        height, width, _ = array.shape
        _check_size(width, height)
        return cls(width, height, array.tobytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> Image:
        """Make an image from a PNG or JPEG file; transparent pixels are composited on white.

        PNG is lossless, so equal files give equal images everywhere. The last bits of a JPEG's
        pixels depend on the decoder; environments that must replay exactly convert it once.

        Raises:
            ContentError: If the bytes are not such a file, or the image is too large.
        """
        from PIL import Image as pillow

        _check_bytes(len(data), "an encoded image")
        try:
            with pillow.open(io.BytesIO(data), formats=("PNG", "JPEG")) as opened:
                _check_size(*opened.size)
                return _from_pillow(opened)
        except ContentError:
            raise
        except (pillow.DecompressionBombError, pillow.DecompressionBombWarning) as error:
            raise ContentError(f"an image has at most {MAX_PIXELS:,} pixels: {error}") from None
        except Exception as error:  # Pillow's decoders raise errors of many kinds
            raise ContentError(f"not a readable PNG or JPEG file: {error}") from None

    @property
    def sha256(self) -> str:
        """The image's id: a hash of its size and pixels, independent of any encoding."""
        if "sha256" not in self._memo:
            digest = hashlib.sha256(b"hexathlon.image/1 %d %d\n" % (self.width, self.height))
            digest.update(self.pixels)
            self._memo["sha256"] = digest.hexdigest()
        return str(self._memo["sha256"])

    def array(self) -> NDArray[np.uint8]:
        """Return a new uint8 array of shape (height, width, 3)."""
        import numpy as np

        flat = np.frombuffer(self.pixels, np.uint8)
        return flat.reshape(self.height, self.width, 3).copy()

    def png(self) -> bytes:
        """Return the image as a PNG file.

        Raises:
            ContentError: If the file would be larger than `MAX_BYTES`.
        """
        if "png" not in self._memo:
            from PIL import Image as pillow

            buffer = io.BytesIO()
            picture = pillow.frombytes("RGB", (self.width, self.height), self.pixels)
            picture.save(buffer, "PNG", compress_level=6)
            _check_bytes(buffer.tell(), "an encoded image")
            self._memo["png"] = buffer.getvalue()
        return cast("bytes", self._memo["png"])

    def data_url(self) -> str:
        """Return the image as a `data:` URL, the form that chat servers accept."""
        return f"data:image/png;base64,{base64.b64encode(self.png()).decode('ascii')}"

    def to_json(self) -> dict[str, Any]:
        """Return the part's JSON form for records."""
        return {
            "type": "image",
            "sha256": self.sha256,
            "width": self.width,
            "height": self.height,
        }

    def __copy__(self) -> Image:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Image:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Image, (self.width, self.height, self.pixels)


@dataclass(frozen=True, slots=True)
class File:
    """A file with its name and media type, such as `text/csv`."""

    name: str
    media_type: str
    data: bytes = field(repr=False)

    def __post_init__(self) -> None:
        check_file(self.name, self.media_type, len(self.data))

    @property
    def sha256(self) -> str:
        """The hash of the file's bytes."""
        return hashlib.sha256(self.data).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return the part's JSON form for records."""
        return {
            "type": "file",
            "sha256": self.sha256,
            "name": self.name,
            "media_type": self.media_type,
            "size": len(self.data),
        }


Part = Text | Image | File
Content = str | tuple[Part, ...]
"""Content of a message. Text-only content is always a `str`."""


def parts_of(content: Content) -> tuple[Part, ...]:
    """Return content as parts.

    Raises:
        ContentError: If it is neither a str nor a tuple of at most `MAX_PARTS` parts.
    """
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, tuple) or not all(isinstance(part, Part) for part in content):
        raise ContentError(
            f"expected a str or a tuple of Text, Image and File parts, got {content!r:.200}"
        )
    if len(content) > MAX_PARTS:
        raise ContentError(f"expected at most {MAX_PARTS} parts of a message, got {len(content)}")
    return content


def text_of(content: Content) -> str:
    """Return the text of content; images and files are omitted."""
    if isinstance(content, str):
        return content
    return "\n\n".join(part.text for part in content if isinstance(part, Text))


def described(content: str | Iterable[Part | Mapping[str, Any]]) -> str:
    """Return content, or its JSON form, as text.

    Images and files appear as one bracketed line with their hash.
    """
    if isinstance(content, str):
        return content
    parts = (part if isinstance(part, Mapping) else part.to_json() for part in content)
    return "\n\n".join(map(_described, parts))


def _described(part: Mapping[str, Any]) -> str:
    if part["type"] == "text":
        return str(part["text"])
    if part["type"] == "image":
        return f"[image, {part['width']} x {part['height']}, sha256 {part['sha256']}]"
    about = f"{part['media_type']}, {part['size']:,} bytes, sha256 {part['sha256']}"
    return f"[file {part['name']}, {about}]"


def joined(contents: Iterable[Content]) -> Content:
    """Concatenate several contents; plain texts are joined by an empty line."""
    listed = list(contents)
    if all(isinstance(content, str) for content in listed):
        return "\n\n".join(map(text_of, listed))
    return tuple(part for content in listed for part in parts_of(content))


def media_of(
    contents: Iterable[Content], known: Mapping[str, bytes] | None = None
) -> dict[str, bytes]:
    """Return the bytes of every image (as PNG) and file by hash, including those in `known`."""
    media = dict(known or {})
    for content in contents:
        for part in () if isinstance(content, str) else content:
            if isinstance(part, Text) or part.sha256 in media:
                continue
            media[part.sha256] = part.png() if isinstance(part, Image) else part.data
    return media


def content_to_json(content: Content) -> str | list[dict[str, Any]]:
    """Return content in record form: a str, or a list of JSON parts without bytes."""
    if isinstance(content, str):
        return content
    return [part.to_json() for part in content]


def content_from_json(
    value: str | Iterable[Mapping[str, Any]], load: Callable[[Mapping[str, Any]], bytes]
) -> Content:
    """Return content from its record form.

    Args:
        value: From `content_to_json`.
        load: Returns the stored bytes of a part: a PNG file for an image.

    Raises:
        ContentError: If the bytes do not match the hash of a part.
    """
    if isinstance(value, str):
        return value
    return tuple(part_from_json(part, load) for part in value)


def part_from_json(part: Mapping[str, Any], load: Callable[[Mapping[str, Any]], bytes]) -> Part:
    """Return one part from its record form; see `content_from_json`."""
    if part["type"] == "text":
        return Text(part["text"])
    data = load(part)
    decoded: Image | File
    if part["type"] == "image":
        decoded = Image.from_bytes(data)
    else:
        decoded = File(part["name"], part["media_type"], data)
    expected = {name: part[name] for name in decoded.to_json()}
    if decoded.to_json() != expected:
        raise ContentError(f"expected {expected}, the bytes give {decoded.to_json()}")
    return decoded


def check_file(name: str, media_type: str, size: int) -> None:
    """Check name, type and size of a file part.

    Raises:
        ContentError: If one of them is invalid.
    """
    if not 0 < len(name) <= _LONGEST_NAME or any(c in name for c in "/\\\0"):
        raise ContentError(
            f"expected a file name of 1 to {_LONGEST_NAME} characters without slashes, got {name!r}"
        )
    if not _MEDIA_TYPE.fullmatch(media_type):
        raise ContentError(f"expected a media type such as 'text/csv', got {media_type!r}")
    _check_bytes(size, f"the file {name!r}")


def _from_pillow(opened: Any) -> Image:
    from PIL import Image as pillow

    if opened.mode not in _MODES:
        raise ContentError(f"expected eight bits per channel, got Pillow's mode {opened.mode}")
    if opened.has_transparency_data:
        white = pillow.new("RGBA", opened.size, "white")
        white.alpha_composite(opened.convert("RGBA"))
        opened = white
    rgb = opened.convert("RGB")
    return Image(rgb.width, rgb.height, rgb.tobytes())


def _check_size(width: int, height: int) -> None:
    if width < 1 or height < 1 or width * height > MAX_PIXELS:
        raise ContentError(f"expected 1 to {MAX_PIXELS:,} pixels, got {width} x {height}")


def _check_bytes(size: int, what: str) -> None:
    if not 0 <= size <= MAX_BYTES:
        raise ContentError(f"{what} has at most {MAX_BYTES:,} bytes, got {size:,}")
