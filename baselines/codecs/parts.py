"""Messages with images and files, for chat servers and for text-only policies.

Codecs translate text. Images are sent as OpenAI `image_url` parts with the PNG in a `data:` URL.
The chat API accepts images in user messages only, so images of tool results follow in a separate
user message. Files are described by a line of text: name, media type, size and hash.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from hexathlon.baselines.codecs.base import Codec, ScreenCodec, WireMessage
from hexathlon.evaluators.content import Content, Image, described, joined

__all__ = [
    "ImageNotSupported",
    "answer_messages",
    "pictured",
    "seeing",
    "text_only",
    "user_message",
]

_AFTER_TOOLS = "Images of the tool results above:"


class ImageNotSupported(ValueError):
    """A text-only policy received an image."""


def seeing(codec: Codec, contents: Sequence[Content]) -> Codec:
    """Return the codec for the size of the last image in these contents, if it has one."""
    if isinstance(codec, ScreenCodec):
        for image in _images(contents)[-1:]:
            codec = codec.seeing(image.width, image.height)
    return codec


def user_message(contents: Sequence[Content]) -> WireMessage:
    """Return contents as one user message; its content is a string if there are no images."""
    content = joined(contents)
    if isinstance(content, str):
        return {"role": "user", "content": content}
    rows = [
        _image_row(part) if isinstance(part, Image) else _text_row(described((part,)))
        for part in content
    ]
    return {"role": "user", "content": rows}


def answer_messages(
    codec: Codec, message: WireMessage, contents: Sequence[Content]
) -> list[WireMessage]:
    """Return the messages that answer an assistant message, with one content per tool call.

    The codec formats the text; the images follow in order.
    """
    answers = codec.answer(message, [_without_images(content) for content in contents])
    rows = [_image_row(image) for image in _images(contents)]
    if not rows:
        return answers
    last = answers[-1]
    if last["role"] != "user":
        return [*answers, {"role": "user", "content": [_text_row(_AFTER_TOOLS), *rows]}]
    return [*answers[:-1], {**last, "content": [_text_row(last["content"]), *rows]}]


def text_only(contents: Sequence[Content]) -> list[str]:
    """Return contents as text, with files described.

    Raises:
        ImageNotSupported: If there is an image.
    """
    for image in _images(contents):
        raise ImageNotSupported(
            f"a text-only policy received an image of {image.width} x {image.height}: play "
            "environments with images with a vision model on a server, endpoint:URL#NAME"
        )
    return [described(content) for content in contents]


def pictured(contents: Sequence[Content], placeholder: str) -> tuple[list[str], list[Image]]:
    """Return contents as texts with placeholders for their pictures, and the pictures.

    What a picture shows is left out of the text: all that follows its last blank line.

    Args:
        contents: The contents.
        placeholder: Stands for a picture.
    """
    texts = []
    for content in contents:
        text = _without_images(content).replace(placeholder, "")
        count = len(_images([content]))
        texts.append(text.rpartition("\n\n")[0] + placeholder * count if count else text)
    return texts, _images(contents)


def _images(contents: Iterable[Content]) -> list[Image]:
    return [
        part
        for content in contents
        for part in (() if isinstance(content, str) else content)
        if isinstance(part, Image)
    ]


def _without_images(content: Content) -> str:
    if isinstance(content, str):
        return content
    return described([part for part in content if not isinstance(part, Image)])


def _text_row(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image_row(image: Image) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": image.data_url()}}
