"""How often a code for "missing" is found among numbers, and how often an ordinary value is taken
for one: the limits in `analyticdag/tables/suspects.py`.

    python docs/figures/codes_for_missing.py [TABLES]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from analyticdag.tables.suspects import suspects

Draw: TypeAlias = Callable[[np.random.Generator, int], np.ndarray]
ROWS = (60, 300, 2000)
CODES = (-999.0, 9999.0, 99.0, -1.0, -9.0, 9.0)
# Columns as tables have them; no value of any means "missing".
ORDINARY: dict[str, Draw] = {
    "normal, one decimal": lambda r, n: r.normal(50, 10, n).round(1),
    "normal, whole": lambda r, n: r.normal(50, 15, n).round(),
    "normal, standardised": lambda r, n: r.normal(size=n).round(2),
    "blood pressure, to fives": lambda r, n: 5.0 * r.normal(26, 4, n).round(),
    "age": lambda r, n: np.clip(r.normal(52, 18, n), 18, 99).round(),
    "counts": lambda r, n: r.poisson(3, n) * 1.0,
    "counts, long tail": lambda r, n: r.negative_binomial(0.6, 0.08, n) * 1.0,
    "counts, power law": lambda r, n: np.floor(r.pareto(1.2, n) * 3.0),
    "zero-inflated amounts": lambda r, n: np.where(
        r.random(n) < 0.4, 0.0, r.lognormal(4, 1, n).round(2)
    ),
    "zero-inflated, standardised": lambda r, n: _standardised(
        np.where(r.random(n) < 0.15, 0.0, r.normal(8, 1.2, n).round(1))
    ),
    "at a detection limit": lambda r, n: np.maximum(r.lognormal(0, 1, n), 0.4).round(2),
    "half a detection limit": lambda r, n: _below(r.lognormal(0, 1, n), 0.4, 0.2).round(2),
    "top-coded at 99999": lambda r, n: np.minimum(r.lognormal(10.3, 0.6, n).round(), 99_999.0),
    "scale 1 to 5": lambda r, n: np.clip(r.normal(3, 1.2, n).round(), 1, 5),
    "scale 1 to 7": lambda r, n: np.clip(r.normal(4, 1.6, n).round(), 1, 7),
    "scale 0 to 10": lambda r, n: np.clip(r.normal(6, 2.5, n).round(), 0, 10),
    "prices": lambda r, n: np.floor(r.lognormal(3.5, 1.0, n)) + 0.99,
    "price points": lambda r, n: r.choice([9.0, 19, 29, 49, 79, 99, 149, 199, 299, 499, 999], n),
    "doses": lambda r, n: r.choice([0.0, 1, 3, 9, 27], n),
    "doses, doubled": lambda r, n: r.choice([1.0, 2, 4, 8], n),
    "years": lambda r, n: r.integers(1950, 2021, n) * 1.0,
    "minus, nought, plus": lambda r, n: r.integers(-1, 2, n) * 1.0,
    "differences, whole": lambda r, n: r.normal(0.5, 1.0, n).round(),
    "heavy tails": lambda r, n: r.standard_t(2, n).round(1),
    "shares in per cent": lambda r, n: (100.0 * r.beta(5, 0.8, n)).round(),
    "two groups": lambda r, n: np.where(r.random(n) < 0.1, 60.0, 30.0) + r.normal(0, 2, n).round(1),
}
# Columns in which a twentieth of the cells is replaced by a code.
CODED = (
    *("normal, one decimal", "age", "counts", "counts, long tail", "zero-inflated amounts"),
    *("normal, standardised", "scale 1 to 5", "scale 1 to 7", "prices", "years"),
)


def _standardised(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def _below(values: np.ndarray, limit: float, instead: float) -> np.ndarray:
    return np.where(values < limit, instead, values)


def rates(draw: Draw, n: int, n_tables: int, code: float | None) -> tuple[float, float]:
    """Return how often something is told, and how often it is certain, in per cent of columns."""
    told = certain = 0
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, n])
        values = draw(rng, n)
        if code is not None:
            values = np.where(rng.random(n) < 0.05, code, values)
        found = [one for one in suspects(values) if code is None or one.value == code]
        told += bool(found)
        certain += any(one.certain for one in found)
    return 100.0 * told / n_tables, 100.0 * certain / n_tables


def main() -> None:
    """Print per cent told / per cent certain, for every kind of column and number of rows."""
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    lines = [f"{'no code at all':<30}" + "".join(f"{f'n={n}':>14}" for n in ROWS)]
    for name, draw in ORDINARY.items():
        found = [rates(draw, n, n_tables, None) for n in ROWS]
        lines.append(f"{name:<30}" + "".join(f"{a:>8.1f}/{b:>5.1f}" for a, b in found))
    lines.append(f"{'5 % of a code, n=600':<30}" + "".join(f"{c:>14g}" for c in CODES))
    for name in CODED:
        found = [rates(ORDINARY[name], 600, max(n_tables // 8, 5), code) for code in CODES]
        lines.append(f"{name:<30}" + "".join(f"{a:>8.1f}/{b:>5.1f}" for a, b in found))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
