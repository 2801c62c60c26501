"""The RFC's example in a real engine, run as a script, and checked by the suite."""

import ast
import dataclasses
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine import engines, oracle
from vllm import LLM, SamplingParams
from vllm.exceptions import VLLMValidationError

from topnsigma_conformance import check_implementation
from topnsigma_conformance.target import load
from topnsigma_reference import Keep, classify

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "features" / "logits_processor" / "top_n_sigma.py"
EXAMPLE = "features.logits_processor.top_n_sigma:TopNSigmaLogitsProcessor"

# Every logit of every token, before all processors and after all filters.
BEFORE: dict[str, Any] = {"logprobs_mode": "raw_logits", "max_logprobs": -1}
AFTER: dict[str, Any] = {"logprobs_mode": "processed_logprobs", "max_logprobs": -1}


@dataclasses.dataclass(frozen=True)
class Text:
    """The tokens [T] that a request generated, and the rows [T, V] that vLLM shows for them."""

    tokens: list[int]
    rows: oracle.Array


def _start(model: Path, logits_processors: Sequence[str] = (EXAMPLE,), **arguments: Any) -> LLM:
    processors = list(logits_processors) or None
    return engines.start(model, record=False, logits_processors=processors, **arguments)[0]


def _generate(llm: LLM, requests: Sequence[SamplingParams]) -> list[Text]:
    prompts: Any = [{"prompt_token_ids": [7, 77, index]} for index in range(len(requests))]
    texts = []
    for output in llm.generate(prompts, [each.clone() for each in requests], use_tqdm=False):
        completion = output.outputs[0]
        assert completion.logprobs is not None
        rows = [
            [shown[token].logprob for token in range(len(shown))] for shown in completion.logprobs
        ]
        texts.append(Text(list(completion.token_ids), np.array(rows, np.float32)))
    return texts


def _request(n: object, **options: Any) -> SamplingParams:
    """A request with n, or, for None, one that has never heard of it."""
    extra_args = None if n is None else {"somebody_elses": True, "top_n_sigma": n}
    return SamplingParams(logprobs=-1, ignore_eos=True, extra_args=extra_args, **options)


def _mixed() -> tuple[list[SamplingParams], list[float | None]]:
    """More requests than fit at once, of several lengths: they come and go; each one's n."""
    choices = (0.3, None, 1.0, 2.0, None, 7.5, 1e-9)
    requests, settings = [], []
    for index in range(21):
        n, greedy = choices[index % 7], index % 5 == 3
        temperature = 0.0 if greedy else (0.7, 1.0, 2.0)[index % 3]
        requests.append(
            _request(n, temperature=temperature, seed=index, max_tokens=1 + 3 * index % 8)
        )
        settings.append(None if greedy else n)
    return requests, settings


def test_kept_sets_of_a_mixed_batch_are_those_of_the_reference(tiny_model: Path) -> None:
    requests, settings = _mixed()
    before = _generate(_start(tiny_model, **BEFORE), requests)
    after = _generate(_start(tiny_model, **AFTER), requests)
    masked = 0
    for one, other, n in zip(before, after, settings, strict=True):
        assert one.tokens == other.tokens
        kept = np.isfinite(other.rows)
        if n is None:
            assert kept.all()
            continue
        for row, kept_here in zip(one.rows, kept, strict=True):
            codes = classify(row, n).codes
            assert kept_here[codes == Keep.MUST_KEEP].all()
            assert not kept_here[codes == Keep.MUST_DROP].any()
            masked += int((codes == Keep.MUST_DROP).sum())
    assert masked > 1000


def test_other_requests_of_the_batch_notice_nothing(tiny_model: Path) -> None:
    requests, settings = _mixed()
    texts = _generate(_start(tiny_model, **BEFORE), requests)
    bare = [params.clone() for params in requests]
    for params in bare:
        params.extra_args = None
    plain = _generate(_start(tiny_model, (), **BEFORE), bare)
    for text, untouched, n in zip(texts, plain, settings, strict=True):
        if n is None:
            assert text.tokens == untouched.tokens
            assert np.array_equal(text.rows.view(np.int32), untouched.rows.view(np.int32))
    # Where top-nσ is on it makes a difference, or all of this would prove nothing.
    differ = [text.tokens != other.tokens for text, other in zip(texts, plain, strict=True)]
    assert sum(differ) > 5


def test_min_p_does_not_switch_it_off(tiny_model: Path) -> None:
    """On V1 it would if the processor said that it is argmax-invariant."""
    request = _request(0.5, temperature=1.0, seed=0, max_tokens=4, min_p=0.01)
    (before,) = _generate(_start(tiny_model, **BEFORE), [request])
    (after,) = _generate(_start(tiny_model, **AFTER), [request])
    for row, left in zip(before.rows, after.rows, strict=True):
        verdict = classify(row, 0.5)
        assert not np.isfinite(left[verdict.codes == Keep.MUST_DROP]).any()
        # min_p has something to mask, which the literal rule on -inf would stumble on.
        assert (row < row.max() + math.log(0.01)).any()


@pytest.mark.parametrize(
    "bad", [math.nan, math.inf, -math.inf, 0, -1.0, True, "2.0", [2.0]], ids=repr
)
def test_a_bad_n_is_refused_and_the_engine_goes_on(tiny_model: Path, bad: object) -> None:
    llm = _start(tiny_model, **BEFORE)
    good = _request(1.0, temperature=1.0, seed=0, max_tokens=2)
    (want,) = _generate(llm, [good])
    # What vLLM makes of a ValueError at admission.
    with pytest.raises(
        VLLMValidationError, match="top_n_sigma must be a finite number > 0"
    ) as error:
        _generate(llm, [_request(bad, temperature=1.0, max_tokens=2)])
    assert repr(bad) in str(error.value)
    (text,) = _generate(llm, [good])
    assert text.tokens == want.tokens


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example alone in a folder that holds nothing else."""
    folder = tmp_path_factory.mktemp("alone")
    return Path(shutil.copy(SCRIPT, folder))


def _run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # As a user would start it, with the engine in a process of its own.
    environment = os.environ | {"VLLM_ENABLE_V1_MULTIPROCESSING": "1"}
    command = [sys.executable, script.name, *arguments]
    return subprocess.run(
        command, cwd=script.parent, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.mark.long_on_v2
def test_the_script_alone_in_a_folder(tiny_model: Path, copied: Path) -> None:
    prompts = ["The future", "Hello"]
    finished = _run(
        copied,
        *("--model", str(tiny_model), "--max-model-len", "128", "--max-tokens", "5"),
        *("--top-n-sigma", "1e-9", "--prompts", *prompts),
    )
    assert finished.returncode == 0, finished.stderr[-4000:]
    lines = finished.stdout.splitlines()
    shown = [line for line in lines if line.startswith("Prompt:")]
    assert shown == [
        f"Prompt:    {prompt!r}, {which} top-nσ"
        for prompt in prompts
        for which in ("without", "with")
    ]
    texts = [line.removeprefix("Output:    ") for line in lines if line.startswith("Output:")]
    # So small an n leaves the most likely token alone, at whatever temperature.
    greedy = SamplingParams(temperature=0.0, max_tokens=5)
    outputs = _start(tiny_model, **BEFORE).generate(prompts, greedy, use_tqdm=False)
    assert texts[1::2] == [repr(output.outputs[0].text) for output in outputs]
    assert texts[0::2] != texts[1::2]


@pytest.mark.long_on_v2
def test_the_script_refuses_a_bad_n(tiny_model: Path, copied: Path) -> None:
    finished = _run(
        copied, "--model", str(tiny_model), "--max-model-len", "128", "--top-n-sigma", "-1"
    )
    assert finished.returncode != 0
    assert "top_n_sigma must be a finite number > 0, got -1.0" in finished.stderr


def test_it_imports_nothing_but_torch_and_vllm() -> None:
    imported = set()
    for node in ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            assert node.level == 0
            imported.add(node.module)
    others = {name.partition(".")[0] for name in imported} - sys.stdlib_module_names
    assert others == {"torch", "vllm"}


@pytest.mark.long_on_v2
def test_it_conforms(runner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through vLLM's own requests and batches, as any processor is checked."""
    inherited = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join(filter(None, [str(ROOT / "examples"), inherited]))
    monkeypatch.setenv("PYTHONPATH", path)
    target = f"vllm:{EXAMPLE},runner={runner}"
    # The first answer comes when vLLM has been imported, which takes a busy machine minutes.
    report = check_implementation(load(target), profile="quick", target=target, timeout=600)
    report.raise_for_failures()
    assert report.complete
    assert report.conforms
    assert report.rfc is not None
    assert report.rfc.conforms
    warned = {result.check for result in report.results if result.status == "quality-warning"}
    # vLLM itself refuses an integer beyond 64 bits, and does not name it.
    assert warned == {"TNS-1.message"}
