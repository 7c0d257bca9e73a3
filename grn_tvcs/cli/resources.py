"""What an inference will take: time and memory, before it begins."""

from __future__ import annotations

from dataclasses import dataclass

from tvcs_core.files.memory import available_memory

# Measured on one core of 2026 with 30 to 1,000 genes; a guess within a factor of two elsewhere.
SECONDS_PER_HALF = 3e-3
SECONDS_PER_PAIR = 1.3e-6  # of an input and a gene, in a half
SECONDS_PER_SAMPLE_AND_PAIR = 3e-10
BYTES_AT_REST = 0.2e9
BYTES_PER_PAIR = 400.0
BYTES_PER_PAIR_AT_WORK = 250.0  # in each thread
BYTES_PER_PAIR_OF_GENES = 60.0  # in the result


@dataclass(frozen=True)
class Cost:
    """An estimate.

    Attributes
    ----------
    seconds
        Of one unloaded machine.
    memory
        Bytes at the peak.
    """

    seconds: float
    memory: float

    def refuse_what_cannot_fit(self) -> None:
        """Refuse work that needs more memory than there is.

        Raises
        ------
        MemoryError
            Naming what is needed and what there is.
        """
        there_is = available_memory()
        if there_is is not None and self.memory > there_is:
            raise MemoryError(
                f"this needs about {self.memory / 1e9:.1f} GB, but only {there_is / 1e9:.1f} GB "
                "are free; give a list of --regulators or fewer genes"
            )


def estimate(n_genes: int, n_inputs: int, n_samples: int, resamples: int, threads: int) -> Cost:
    """Estimate time and memory of ``infer(..., "tvcs")``; threads are not counted as time saved."""
    pairs = n_genes * n_inputs
    half = SECONDS_PER_PAIR + SECONDS_PER_SAMPLE_AND_PAIR * n_samples
    return Cost(
        resamples * (SECONDS_PER_HALF + half * pairs),
        BYTES_AT_REST
        + (BYTES_PER_PAIR + BYTES_PER_PAIR_AT_WORK * threads) * pairs
        + BYTES_PER_PAIR_OF_GENES * n_genes**2,
    )
