"""SmolLM2 and its rows, loaded and generated once a run."""

import choosing_n
import pytest
import smollm2


@pytest.fixture(scope="session")
def smol() -> smollm2.SmolLM2:
    return smollm2.load()


@pytest.fixture(scope="session")
def smol_rows(smol: smollm2.SmolLM2) -> smollm2.Array:
    """[256, 49152]: those that the committed figures come from."""
    return choosing_n.rows(smol)
