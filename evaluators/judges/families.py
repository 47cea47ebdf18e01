"""Model families, used to detect a judge that scores its own kin (rule J10)."""

import re

__all__ = ["FAMILIES", "family_of", "kinship"]

FAMILIES: dict[str, tuple[str, ...]] = {
    "anthropic": ("claude",),
    "cohere": ("command-r", "command-a", "c4ai", "aya"),
    "deepseek": ("deepseek",),
    "glm": ("glm", "chatglm"),
    "google": ("gemini", "gemma"),
    "internlm": ("internlm",),
    "kimi": ("kimi", "moonshot"),
    "meta": ("llama",),
    "microsoft": ("phi-", "phi3", "phi4"),
    "minimax": ("minimax",),
    "mistral": ("mistral", "mixtral", "magistral", "devstral", "ministral"),
    "nvidia": ("nemotron",),
    "openai": ("gpt-", "gpt2", "o1-", "o3-", "o4-", "chatgpt"),
    "qwen": ("qwen", "qwq", "qvq"),
    "yi": ("yi-",),
}
"""Words in a model's name, by family. A distilled model belongs to its base: `DeepSeek-R1-Distill-
Qwen` counts as both, and kinship with either counts."""


def family_of(name: str) -> tuple[str, ...]:
    """Return the families whose words occur in a model's name; empty if unknown."""
    plain = name.rpartition("/")[2].casefold()
    return tuple(
        family
        for family, words in FAMILIES.items()
        if any(re.search(rf"(?<![a-z0-9]){re.escape(word)}", plain) for word in words)
    )


def kinship(judge: tuple[str, ...], candidate: tuple[str, ...]) -> str:
    """Return `same`, `different`, or `unknown` if either family is unknown."""
    if not judge or not candidate:
        return "unknown"
    return "same" if set(judge) & set(candidate) else "different"
