"""Top-nσ truncation of logits, in place. See `top_n_sigma_`."""

from topnsigma_processor.top_n_sigma import top_n_sigma_

__all__ = ["__version__", "top_n_sigma_"]

__version__ = "0.1.0"
