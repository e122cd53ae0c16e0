"""Would another sample give the same graph? Refit on resamples of the rows and count.

    bootstrap(estimator, X, n_resamples)            ->  Stability
    bootstrap_effects(estimator, X, n_resamples)    ->  effects that know that the graph was learned

| module          | holds                                                                     |
|-----------------|---------------------------------------------------------------------------|
| `run.py`        | `bootstrap`: the resamples, on any joblib backend                         |
| `effects.py`    | `bootstrap_effects`: effects averaged over graphs learned from resamples  |
| `resamples.py`  | which rows a resample has, and the fit on them                            |
| `counts.py`     | what is kept of the fits, in memory and on disk                           |
| `judged.py`     | probabilities of edges, given how often they come back                    |
| `result.py`     | `Stability`: frequencies, consensus graphs, stability selection           |

Every resample draws from a seed of its own and only counts are kept: the numbers depend neither
on the backend nor on the number of workers, and memory does not grow with the resamples.
"""

from __future__ import annotations

from analyticdag.stability.effects import AveragedEffect, bootstrap_effects
from analyticdag.stability.result import Stability
from analyticdag.stability.run import bootstrap

__all__ = ["AveragedEffect", "Stability", "bootstrap", "bootstrap_effects"]
