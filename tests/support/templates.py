# ruff: noqa: E501  (a template is one text; breaking its lines would change it)
"""Chat templates modelled on those of common model families, and tokenizers that carry them.

None is a model's own template; each has the traits that trip up a renderer: tools in the system
turn or before the last user's, reasoning that is dropped from earlier turns, system prompts folded
into the user's, separators of every kind, other role names.
"""

from functools import cache
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

CHATML = """{%- for m in messages -%}
<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}"""

# Tools in the system turn; tool results share one user turn; reasoning only after the last user.
REASONING = """{%- if tools -%}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}

{% endif %}# Tools
{% for t in tools %}{{ t | tojson }}
{% endfor %}<|im_end|>
{% elif messages[0].role == 'system' -%}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif -%}
{%- set ns = namespace(last=0) -%}
{%- for m in messages -%}{%- if m.role == 'user' -%}{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}
{%- for m in messages -%}
{%- if m.role == 'user' -%}<|im_start|>user
{{ m.content }}<|im_end|>
{% elif m.role == 'assistant' -%}<|im_start|>assistant
{% if '</think>' in m.content and loop.index0 < ns.last %}{{ m.content.split('</think>')[-1].lstrip('\n') }}{% else %}{{ m.content }}{% endif %}<|im_end|>
{% elif m.role == 'tool' -%}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' -%}<|im_start|>user{% endif %}
<tool_response>
{{ m.content }}
</tool_response>{% if loop.last or messages[loop.index0 + 1].role != 'tool' %}<|im_end|>
{% endif -%}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
<think>
{% endif -%}"""

# Headers, a begin-of-text token, trimmed content, tool results under another role name.
HEADERS = """<|begin|>{%- for m in messages -%}
<|header|>{{ 'ipython' if m.role == 'tool' else m.role }}<|/header|>

{% if m.role == 'assistant' and m.tool_calls %}{{ m.tool_calls[0].function | tojson }}{% else %}{{ m.content | trim }}{% endif %}<|eot|>
{%- endfor -%}
{%- if add_generation_prompt -%}<|header|>assistant<|/header|>

{% endif -%}"""

# No role tokens for the assistant; tools come before the last user's turn; results as JSON.
INSTRUCT = """<s>{%- set ns = namespace(last=0) -%}
{%- for m in messages -%}{%- if m.role == 'user' -%}{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}
{%- for m in messages -%}
{%- if m.role == 'system' -%}[SYS] {{ m.content }} [/SYS]
{%- elif m.role == 'user' -%}
{%- if tools and loop.index0 == ns.last -%}[TOOLS] {{ tools | tojson }} [/TOOLS]{%- endif -%}
[INST] {{ m.content }} [/INST]
{%- elif m.role == 'tool' -%}[RESULTS] {"content": {{ m.content | tojson }}} [/RESULTS]
{%- else %} {{ m.content }}</s>
{%- endif -%}
{%- endfor -%}"""

# The system prompt belongs to the first user turn; the assistant is called model; roles alternate.
FOLDED = """<bos>{%- if messages[0].role == 'system' -%}{%- set lead = messages[0].content + '\n\n' -%}{%- set rest = messages[1:] -%}{%- else -%}{%- set lead = '' -%}{%- set rest = messages -%}{%- endif -%}
{%- for m in rest -%}
{%- if (m.role == 'assistant') != (loop.index0 % 2 == 1) -%}{{ raise_exception('roles must alternate') }}{%- endif -%}
<turn>{{ 'model' if m.role == 'assistant' else 'user' }}
{% if loop.first %}{{ lead }}{% endif %}{{ m.content | trim }}</turn>
{% endfor -%}
{%- if add_generation_prompt -%}<turn>model
{% endif -%}"""

# No newline anywhere; the end of a reply is the end of the text; earlier reasoning is dropped.
BARS = """<|BOS|>{%- for m in messages -%}
{%- if m.role == 'system' -%}{{ m.content }}
{%- elif m.role == 'user' -%}<|User|>{{ m.content }}
{%- elif m.role == 'tool' -%}<|Output|>{{ m.content }}<|/Output|>
{%- else -%}<|Assistant|>{{ m.content.split('</think>')[-1] }}<|EOS|>
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|Assistant|>{% endif -%}"""

# Every turn carries a channel; the reply ends with a token of its own.
CHANNELS = """{%- for m in messages -%}
<|start|>{{ m.role }}{% if m.role == 'assistant' %}<|channel|>final{% endif %}<|message|>{{ m.content }}{{ '<|return|>' if m.role == 'assistant' else '<|end|>' }}
{%- endfor -%}
{%- if add_generation_prompt -%}<|start|>assistant<|channel|>final<|message|>{% endif -%}"""

# Plain words for roles; the only special token at the end of a turn is the end of the text.
WORDS = """{%- for m in messages -%}
### {{ m.role | capitalize }}:
{{ m.content }}{% if m.role == 'assistant' %}<eos>{% endif %}

{% endfor -%}
{%- if add_generation_prompt -%}### Assistant:
{% endif -%}"""

# The end of a turn and of a line are both special tokens; only the last turn is marked as last.
LATEST = """{%- for m in messages -%}
[{{ m.role }}{{ '*' if loop.last else '' }}]<nl>{{ m.content }}<stop><nl>
{%- endfor -%}
{%- if add_generation_prompt -%}[assistant]<nl>{%- endif -%}"""

TEMPLATES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "chatml": (CHATML, ("<|im_start|>", "<|im_end|>"), "<|im_end|>"),
    "reasoning": (REASONING, ("<|im_start|>", "<|im_end|>", "<|endoftext|>"), "<|im_end|>"),
    "headers": (HEADERS, ("<|begin|>", "<|header|>", "<|/header|>", "<|eot|>"), "<|eot|>"),
    "instruct": (INSTRUCT, ("<s>", "</s>", "[INST]", "[/INST]"), "</s>"),
    "folded": (FOLDED, ("<bos>", "<turn>", "</turn>"), "</turn>"),
    "bars": (BARS, ("<|BOS|>", "<|EOS|>", "<|User|>", "<|Assistant|>"), "<|EOS|>"),
    "channels": (CHANNELS, ("<|start|>", "<|end|>", "<|return|>", "<|message|>"), "<|return|>"),
    "words": (WORDS, ("<eos>",), "<eos>"),
    "latest": (LATEST, ("<stop>", "<nl>"), "<stop>"),
}
"""Template, special tokens, and end-of-turn token by name."""

REWRITING = {"reasoning", "bars", "instruct", "latest"}
"""Templates that render earlier turns differently once later ones follow."""

CORPUS = (
    "You are an agent. Look at the tables before you write a statement.",
    "SELECT name FROM customer WHERE balance >= 430.25 ORDER BY name LIMIT 6",
    '{"name": "run_query", "arguments": {"sql": "SELECT 1"}}',
    "<think>\nThe user wants rows.\n</think>\n\n4 tables: airport (6 rows), flight (7 rows)",
)


@cache
def tokenizer(name: str) -> Any:
    """Return a byte-level BPE tokenizer with a chat template."""
    template, special, end = TEMPLATES[name]
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=340,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(CORPUS, trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token=end, additional_special_tokens=list(special)
    )
    made.chat_template = template
    return made
