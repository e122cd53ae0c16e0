"""The table that used to take nine commands: an id, a date, signs, words, an empty column, gaps."""

from __future__ import annotations

import csv
import datetime
import io
from typing import Any

import numpy as np

# What was drawn: cause and effect.
EDGES = {
    ("age", "sbp"),
    ("smoker", "sbp"),
    ("sex", "height"),
    ("height", "weight"),
    ("active", "weight"),
    ("income", "savings"),
    ("sbp", "risk"),
    ("weight", "risk"),
}
VARIABLES = {name for edge in EDGES for name in edge}


def people(n: int = 400, seed: int = 1, gaps: float = 0.03) -> list[dict[str, Any]]:
    """Draw n people."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal
    age = 50 + 12 * noise(n)
    smoker, sex, active = rng.random((3, n)) < [[0.4], [0.5], [0.5]]
    sbp = 120 + 0.8 * (age - 50) + 14 * smoker + 6 * noise(n)
    height = 165 + 13 * sex + 6 * noise(n)
    weight = 70 + 0.9 * (height - 170) - 12 * active + 5 * noise(n)
    income = 40_000 + 9_000 * noise(n)
    savings = 12 + 0.0004 * (income - 40_000) + 1.5 * noise(n)
    risk = 10 + 0.2 * (sbp - 120) + 0.25 * (weight - 70) + 1.5 * noise(n)
    first = datetime.date(2021, 3, 1)
    rows = []
    for k in range(n):
        rows.append(
            {
                "Unnamed: 0": k,
                "patient_id": 10_001 + 7 * k,
                "visit": first + datetime.timedelta(days=int(rng.integers(0, 700))),
                "sex": "male" if sex[k] else "female",
                "smoker": "Yes" if smoker[k] else "no",
                "active": bool(active[k]),
                "age": round(float(age[k]), 1),
                "sbp": round(float(sbp[k]), 1),
                "height": round(float(height[k]), 1),
                "weight": round(float(weight[k]), 1),
                "income": f"{income[k]:,.0f}",
                "savings": f"{savings[k]:.1f}%",
                "risk": round(float(risk[k]), 2),
                "region": ("north", "south", "east", "west")[int(rng.integers(4))],
                "comment": "",
            }
        )
    names = ["age", "sbp", "height", "weight", "income", "smoker"]
    for row, k in np.argwhere(rng.random((n, len(names))) < gaps).tolist():
        rows[row][names[k]] = "NA"
    return rows


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
