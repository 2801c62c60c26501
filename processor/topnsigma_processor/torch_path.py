"""Top-nσ with PyTorch operations, row by row, on any device."""

from collections.abc import Sequence

import torch

from topnsigma_processor.deviation import Workspace, spread
from topnsigma_processor.threshold import largest_below, threshold


def mask_rows_(logits: torch.Tensor, values: Sequence[float | None], exclude: bool) -> None:
    """Set to -inf what lies below its row's threshold, in place.

    One row at a time, because whatever is computed over several rows at once may come out with
    other bits when the number of rows changes (TNS-8), and because one row stays in the cache from
    its first pass to its last. Temporary memory: a few rows, whatever the number of rows. Every
    row reads numbers back from the device: on an accelerator that waits for it.

    Args:
        logits: `[B, V]`, V > 0, float16, bfloat16, float32 or float64, any strides without overlap.
        values: B values, n or None where the row is disabled.
        exclude: leave -inf out of the maximum, σ and the count.
    """
    enabled = [(index, n) for index, n in enumerate(values) if n is not None]
    if not enabled or logits.shape[1] == 1:
        return
    # Allowed on ordinary tensors as on inference ones, and the cheapest way to record nothing.
    with torch.inference_mode():
        workspace = Workspace(logits.shape[1], logits.dtype, logits.device)
        for index, n in enabled:
            row = logits[index]
            found = spread(row, workspace, exclude)
            if found is None:
                continue
            cut = largest_below(threshold(found.maximum, n, found.sigma, found.exponent), row.dtype)
            if cut is not None:
                # Keeps what is > cut and replaces the rest: with this cut, what is < t.
                torch.threshold_(row, cut, float("-inf"))
