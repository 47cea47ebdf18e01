"""PingPong: characters in situations that an interrogator model creates.

Reads the English part of `settings_v2.json`. The interrogator is the environment's `partner`, which
receives the situation as its manner; without a partner, a stand-in says a few neutral lines. The
one situation about clothes is omitted. Licence of the data: Apache-2.0.
"""

from collections.abc import Sequence

from hexathlon.tasks.roleplay.loaders.loaded import (
    LoadedConversation,
    LoadedConversations,
    read_json,
)

__all__ = ["PingPongSource", "source"]

_STAND_IN = (
    "Hello. What are you doing here?", "I see. Why is that?", "And what do you make of it?",
    "Tell me a little more.", "Who else knows of this?", "What happened before?",
    "Would you do it again?", "All right. Any last word?",
)  # fmt: skip
_LEFT_OUT = "undress_light"


class PingPongSource(LoadedConversations):
    """PingPong's characters and situations."""

    name = "pingpong"
    folder = "pingpong"

    def items(self) -> Sequence[LoadedConversation]:
        """Return one item per character and situation."""
        settings = read_json(self.root / "settings_v2.json")["en"]
        return [
            LoadedConversation(
                situation["tags"][0],
                character["char_name"],
                character["system_prompt"],
                [_STAND_IN[i % len(_STAND_IN)] for i in range(situation["num_turns"])],
                before=[(character["char_name"], character["greeting"])]
                if character.get("greeting")
                else (),
                manner=situation["text"],
                facts={"tags": situation["tags"]},
            )  # fmt: skip
            for character in settings["characters"]
            for situation in settings["situations"]
            if _LEFT_OUT not in situation["tags"]
        ]


def source() -> PingPongSource:
    """Create the source for the registry."""
    return PingPongSource()
