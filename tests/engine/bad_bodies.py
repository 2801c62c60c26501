"""Bodies of HTTP requests that have to be answered with 400, as text: a JSON library would balk."""

import random
from collections.abc import Iterator

SEED = 8
COUNT = 200

# `true` is missing: vLLM's server makes 1 of it before anybody can tell.
_BAD_N = (
    *("0", "-0.0", "0e5", "-1", "-1e-320", "-1e308", "false", "1e-400"),
    *("NaN", "-NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1" + "0" * 400),
    *("18446744073709551616", "-9223372036854775809"),
    *(
        '"2.0"',
        '""',
        '" 2"',
        '"0x2"',
        '"２"',
        '"nan"',
        '"\\u0000"',
        '"\\ud800"',
        '"\\udfff\\ud800"',
    ),
    *('"' + "x" * 100_000 + '"', '"1' + "0" * 5_000 + '"'),
    *("[]", "[2.0]", "[[2.0]]", '["2.0"]', "[" * 50 + "2" + "]" * 50, "[null]"),
    *("{}", '{"n": 2.0}', '{"top_n_sigma": 2.0}', "null"),
)
_BAD_POLICY = (
    *('"zero"', '"Exclude"', '"exclude "', '""', '"\\ud800"', '"' + "n" * 100_000 + '"'),
    *("0", "1", "true", "1.5", "NaN", '["noop"]', '{"neg_inf": "noop"}', "null"),
)
_UNKNOWN = (
    *("top_n_sigma_", "top_n_sigmas", "top_n_sigma_neg_inf_", "top_n_sigma\\u0000"),
    *("top_n_sigma\\ud800", "top_n_sigma" + "a" * 10_000),
)
_BAD_ARGUMENTS = (
    "2.0",
    '"top_n_sigma"',
    "[]",
    '[["top_n_sigma", 2.0]]',
    "true",
    '{"top_n_sigma": }',
)
_GOOD = ('"top_n_sigma": 2.0', '"other": "x"', '"another": 5', '"top_n": -1')
_OTHERS = ('"temperature": 0.0', '"temperature": 1.5', '"top_p": 0.5', '"seed": 3', '"n": 1')


def bad_bodies() -> Iterator[tuple[str, str]]:
    """Path and body, the same ones each time."""
    rng = random.Random(SEED)
    every = [
        *(f'{{"top_n_sigma": {value}}}' for value in _BAD_N),
        *(f'{{"top_n_sigma_neg_inf": {value}}}' for value in _BAD_POLICY),
        *(f'{{"{key}": 1.0}}' for key in _UNKNOWN),
        *_BAD_ARGUMENTS,
    ]
    for arguments in every:
        yield _body(rng, arguments)
    for _ in range(COUNT - len(every)):
        entries = [
            rng.choice(
                (
                    f'"top_n_sigma": {rng.choice(_BAD_N)}',
                    f'"top_n_sigma_neg_inf": {rng.choice(_BAD_POLICY)}',
                    f'"{rng.choice(_UNKNOWN)}": {rng.choice(_BAD_N)}',
                )
            )
        ]
        # Where a key is there twice the last one counts: the bad one has to be that.
        entries = [*rng.sample(_GOOD, rng.randrange(3)), *entries]
        yield _body(rng, f"{{{', '.join(entries)}}}")


def _body(rng: random.Random, arguments: str) -> tuple[str, str]:
    path, prompt = rng.choice(
        (
            ("/v1/completions", '"prompt": "abc"'),
            ("/v1/chat/completions", '"messages": [{"role": "user", "content": "abc"}]'),
        )
    )
    parts = ['"model": "tiny"', '"max_tokens": 1', prompt, *rng.sample(_OTHERS, rng.randrange(3))]
    rng.shuffle(parts)
    return path, f'{{{", ".join(parts)}, "vllm_xargs": {arguments}}}'
