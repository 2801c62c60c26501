"""What a person has to say about each peer and each of its failures, for ``docs/peers.md``.

What a peer's code does was read in the versions of ``peers.pinned`` and is shown on the peer's own
function in ``test_by_hand.py``; that the places named are there, in ``test_remarks.py``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

Kind = Literal["a fault", "a matter of dialect in one part, and a fault in the other"]


@dataclasses.dataclass(frozen=True)
class Place:
    """Where something is in a peer's source.

    Attributes:
        package: that installs it, by its import name; empty where no source is installed.
        file: inside the package, or inside of the repository.
        name: of a function or class there.
    """

    package: str
    file: str
    name: str

    def __str__(self) -> str:
        path = "/".join(part for part in (self.package, self.file) if part)
        return f"`{self.name}` in `{path}`"


@dataclasses.dataclass(frozen=True)
class Remark:
    """On one failing check.

    Attributes:
        kind: whether the specification has no word for what is meant, or nobody can mean it.
        expected: what the rule asks for, in a sentence.
        seen: what happens instead.
        by_hand: the failure on a case that can be worked out on paper; ``test_by_hand.py`` does.
        places: where it comes from.
        fix: what would mend it.
        concerns: whom.
    """

    kind: Kind
    expected: str
    seen: str
    by_hand: str
    places: tuple[Place, ...]
    fix: str
    concerns: str


@dataclasses.dataclass(frozen=True)
class About:
    """On one peer.

    Attributes:
        title: what its users call it.
        driven: what of it is run, and how.
        dialect: what is a choice of its authors, and no fault; empty where there is nothing to say.
        remarks: id of a failing check to what there is to say.
    """

    title: str
    driven: str
    dialect: str
    remarks: Mapping[str, Remark] = dataclasses.field(default_factory=dict)


_STAYS_ABOVE = "A token that lies above the exact threshold by more than n·σ·2⁻¹⁵ and 4 ulp stays."
_MASKED_ABOVE = "It is masked: σ comes out too small, and the threshold too high."
_SMALL_AFTER_LARGE = (
    "Row: -8192, then 131,070 logits of 1 and -1 in turn; n = 1. 8192² is 2²⁶, where float32 values"
    " lie 8 apart, so that the square of each further deviation, about 1, is lost when it is added."
    " σ comes out as √512 = 22.627 instead of √513 = 22.650, and the cut at -21.627 instead of"
    " -21.650. A logit of -21.64 in the place of the first 1 lies above the cut by ten times what"
    " TNS-9 leaves to rounding, and is masked."
)

_FEW_LARGE = (
    "Rows in which a few logits lie far from all others, as when tokens are banned with a large"
    " negative bias. Tokens right at the cut change sides, so that the same request may keep other"
    " tokens than in an engine that sums more exactly."
)

_LLAMA = Place("", "src/llama-sampler.cpp", "llama_sampler_top_n_sigma_apply")
_MLX = Place("mlx_vlm", "sample_utils.py", "apply_top_n_sigma")
_OP = Place("aphrodite", "v1/sample/ops/top_nsigma.py", "top_nsigma")
_PARAMS = Place("aphrodite", "sampling_params.py", "SamplingParams")
_BATCH = Place("aphrodite", "v1/worker/gpu_input_batch.py", "InputBatch")

_MASK_DISABLED = (
    "Let the threshold be -inf in the rows whose n is not > 0, for instance with `torch.where` on"
    " the tensor of n, or apply the op to the other rows alone."
)

ABOUT: Mapping[str, About] = {
    "llama.cpp": About(
        title="llama.cpp",
        driven=(
            "`llama_sampler_init_top_n_sigma` and `llama_sampler_apply`, in the build of llama.cpp"
            " that the package xllamacpp links into its extension module, called through ctypes"
            " without a model, one row at a time. The package carries no source: what is said about"
            " code was read in llama.cpp's repository, and holds for the build as far as the case"
            " by hand shows it."
        ),
        dialect=(
            "σ divides by V, tokens that are -inf are left out of it, and an n that is not > 0"
            " switches the sampler off, of which -1, the default, is documented. All of that is"
            " dialect. NaN and infinity keep every token."
        ),
        remarks={
            "TNS-9.core": Remark(
                kind="a fault",
                expected=_STAYS_ABOVE,
                seen=_MASKED_ABOVE,
                by_hand=_SMALL_AFTER_LARGE,
                places=(_LLAMA,),
                fix=(
                    "Keep the two running sums, of the logits and of the squared deviations, in"
                    " double: the squares are double already, and are rounded to float only when"
                    " they are added."
                ),
                concerns=_FEW_LARGE,
            )
        },
    ),
    "mlx-vlm": About(
        title="mlx-vlm",
        driven=(
            "`apply_top_n_sigma`, from the one file that holds it, on the CPU backend of mlx, and"
            " left out where `make_sampler` leaves it out. Metal was not run."
        ),
        dialect=(
            "σ divides by V. `make_sampler`, through which generation and server come, leaves"
            " top-nσ out unless n > 0, and documents that 0 disables. Both are dialect. The"
            " function by itself, which is documented to take any n that is not negative, keeps"
            " the maximum alone at n = 0, and refuses a negative n; nothing in mlx-vlm calls it so."
        ),
        remarks={
            "TNS-1.accept": Remark(
                kind="a fault",
                expected="An integer is a valid n, whatever its width, and means its value.",
                seen="An integer beyond 64 bits ends in an error from mlx, `std::bad_cast`.",
                by_hand="n = 2⁷⁰ on the row 0, 1, 3: RuntimeError. n = float(2⁷⁰): all three stay.",
                places=(_MLX,),
                fix="Convert n with `float()` on entry.",
                concerns=(
                    "Hardly anybody: such an n keeps every token, and the server's schema declares"
                    " a float."
                ),
            ),
            "TNS-9.core": Remark(
                kind="a fault",
                expected=_STAYS_ABOVE,
                seen=_MASKED_ABOVE,
                by_hand=_SMALL_AFTER_LARGE,
                places=(_MLX,),
                fix=(
                    "The sum is that of `mx.std`, which on the CPU adds one float32 after the"
                    " other. Summing in blocks, either in mlx's reduction or by giving the row"
                    " another shape and adding the sums of its parts, is enough."
                ),
                concerns=_FEW_LARGE + " Seen on the CPU; no other backend was run.",
            ),
        },
    ),
    "aphrodite": About(
        title="Aphrodite",
        driven=(
            "The op `top_nsigma`, with the tensor of n that the worker would hand to it. What"
            " `SamplingParams` and the worker's `InputBatch` do to a request's `nsigma` on its way"
            " was read there and is repeated by the adapter, since neither can be imported without"
            " the engine."
        ),
        dialect=(
            "σ is that of `torch.std`, a row that holds -inf is left alone, and a logit equal to"
            " the threshold stays: RFC, as proposed for vLLM. `nsigma` is 0 by default, and 0"
            ' means off for a request that is alone. No value of the dialect says "0 is off, and'
            ' everything else outside the domain is an error", which describes a negative'
            " `nsigma`, so that the check for 0 below is held against it for want of a word."
        ),
        remarks={
            "TNS-1.reject": Remark(
                kind="a matter of dialect in one part, and a fault in the other",
                expected=(
                    "An n that is no finite number > 0 is refused with an error, before any logit"
                    " is changed."
                ),
                seen=(
                    "0 is taken for off, which is dialect. NaN and infinity are taken too, and keep"
                    " every token; True is taken for 1. A string or a list ends in a TypeError"
                    " of a comparison instead of a refusal. The table above has all of them."
                ),
                by_hand=(
                    "Row 0, 1, 3, where σ² = 7/3 and n = 1 keeps 3 alone: n = NaN and n = infinity"
                    " keep all three, and n = True keeps one. `topnsigma-conformance run aphrodite"
                    " --check TNS-1.reject --case"
                    ' \'{"rows":[{"values":[0,1,3]}],"n":["nan"]}\'` shows the first.'
                ),
                places=(_PARAMS,),
                fix=(
                    "Refuse in the validation of `SamplingParams`, beside the test for a negative"
                    " `nsigma`, what is no number and what is not finite."
                ),
                concerns=(
                    "Whoever computes `nsigma` and gets NaN: the request runs, untruncated, and"
                    " nothing says so."
                ),
            ),
            "TNS-2.beside-enabled": Remark(
                kind="a fault",
                expected="A row without n comes back bit for bit, whatever is beside it.",
                seen=(
                    "Where another request of the batch has n > 0, a row without n is treated as"
                    " n = 0: its maximum is kept and all else masked."
                ),
                by_hand=(
                    "Rows 0, 1 with n = 1 and 8, -2 without: the second comes back as 8, -inf."
                    " Alone it comes back as it was."
                ),
                places=(_OP, _BATCH),
                fix=_MASK_DISABLED,
                concerns=(
                    "Everybody on a server where one client uses `nsigma`: for as long as it is in"
                    " the batch, the requests of the others become greedy, whatever their"
                    " temperature."
                ),
            ),
            "TNS-8.mixed-n": Remark(
                kind="a fault",
                expected="Each row gets the result that its own n gives it alone.",
                seen="The same fault as TNS-2.beside-enabled, seen from another side.",
                by_hand="The same rows.",
                places=(_OP, _BATCH),
                fix=_MASK_DISABLED,
                concerns="The same requests.",
            ),
        },
    ),
    "processor": About(
        title="This project's op",
        driven="`top_n_sigma_`, its PyTorch path, on a CPU. It claims the extreme domain.",
        dialect="",
    ),
    "vllm:topnsigma_processor.vllm_plugin:TopNSigma,runner=V1": About(
        title="This project's logits processor, vLLM Model Runner V1",
        driven=(
            "The class, with vLLM's own configuration, requests and batch updates: before each call"
            " that counts, requests come, go, move and are swapped."
        ),
        dialect="",
    ),
    "vllm:topnsigma_processor.vllm_plugin:TopNSigma,runner=V2": About(
        title="This project's logits processor, vLLM Model Runner V2",
        driven="The same class, with vLLM's slots in the place of batch updates.",
        dialect="",
    ),
}
"""Target to what there is to say."""
