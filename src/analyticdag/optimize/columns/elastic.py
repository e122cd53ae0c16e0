"""The elastic net of one column: over b with b_j = 0,

    ½ b'Sb - S_j'b + Σ_i lam_i |b_i| + ½ Σ_i ridge_i b_i².

Coordinate steps decide which weights are non-zero, Newton steps how large they are: the former
crawl along the narrow valleys of collinear variables, the latter cross them at once. ``lam`` is inf
where an edge may not exist; q = S b is kept up to date by whoever changes b.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from analyticdag._jit import helper, part
from analyticdag._typing import FloatArray, IntArray

# A weight whose ridge exceeds its own variance so many times is left to the coordinate steps: it
# hardly moves with the others, and would make the Newton system three times larger for nothing.
_STIFF = 30.0
_JITTER = 1e-9  # relative; makes duplicated columns solvable
_ROUNDS = 10
_NEWTON_STEPS = 5
# Multiply-adds spent on Newton systems in one elastic net, per d^1.5. In the first sweeps columns
# can have hundreds of parents; solving them to the end would be wasted, the others still move.
_EFFORT = 500.0
_LITTLE = 3.0  # rounds end when one wins less than this many times the least worth of a weight


class Workbench(NamedTuple):
    """Scratch memory for the Newton system."""

    free: IntArray
    pull: FloatArray  # minus the gradient
    step: FloatArray
    square: FloatArray


def workbench(d: int) -> Workbench:
    """Room for up to d free weights."""
    return Workbench(np.empty(d, np.int64), np.empty(d), np.empty(d), np.empty(d * d))


@part
def add_multiple(target: FloatArray, factor: float, source: FloatArray) -> None:
    """target += factor * source, in place."""
    for k in range(target.shape[0]):
        target[k] += factor * source[k]


@helper
def coordinate_pass(
    S: FloatArray,
    j: int,
    b: FloatArray,
    q: FloatArray,
    ridge: FloatArray,
    lam: FloatArray,
    worth: float,
    credit: float,
) -> float:
    """Put each weight where it is best; returns credit + the decrease.

    A weight worth less than ``worth`` is kept at zero, or put there if what the column has won so
    far (``credit``) pays for it: so the pass as a whole never raises the objective.
    """
    for i in range(b.shape[0]):
        old, own = b[i], S[i, i] + ridge[i]
        pull = S[j, i] - q[i] + S[i, i] * old
        strength = max(abs(pull) - lam[i], 0.0)
        best = 0.5 * strength * strength / own if strength > 0.0 else 0.0
        if old == 0.0:
            if best < worth or strength == 0.0:
                continue
            now = 0.0
        else:
            now = (pull - 0.5 * own * old) * old - lam[i] * abs(old)  # what it is worth as it is
        new = math.copysign(strength / own, pull) if strength > 0.0 else 0.0
        if best < worth and now <= credit:
            best, new = 0.0, 0.0
        if new == old or (best - now < 1e-3 * worth and new != 0.0):
            continue
        credit += best - now
        add_multiple(q, new - old, S[i])
        b[i] = new
    return credit


@helper
def cholesky_factor(H: FloatArray) -> bool:
    """H = U'U in place of the upper triangle; False if H is not positive.

    Four rows are finished before the rest is updated by all of them: a quarter of the passes over
    the memory.
    """
    p = H.shape[0]
    for k in range(0, p, 4):
        for row in range(k, min(k + 4, p)):
            for above in range(k, row):
                add_multiple(H[row, row:], -H[above, row], H[above, row:])
            if not H[row, row] > 0.0:
                return False
            scale = 1.0 / math.sqrt(H[row, row])
            for n in range(row, p):
                H[row, n] *= scale
        for i in range(k + 4, p):
            u, v, x, y = H[k, i], H[k + 1, i], H[k + 2, i], H[k + 3, i]
            for n in range(i, p):
                H[i, n] -= u * H[k, n] + v * H[k + 1, n] + x * H[k + 2, n] + y * H[k + 3, n]
    return True


@helper
def cholesky_solve(H: FloatArray, y: FloatArray) -> bool:
    """Solve H x = y in place of y, H given by its upper triangle; False if not positive."""
    p = H.shape[0]
    if not cholesky_factor(H):
        return False
    for k in range(p):
        y[k] /= H[k, k]
        for n in range(k + 1, p):
            y[n] -= y[k] * H[k, n]
    for k in range(p - 1, -1, -1):
        total = y[k]
        for n in range(k + 1, p):
            total -= H[k, n] * y[n]
        y[k] = total / H[k, k]
    return True


@helper
def free_weights(
    S: FloatArray,
    j: int,
    b: FloatArray,
    q: FloatArray,
    ridge: FloatArray,
    lam: FloatArray,
    worth: float,
    bench: Workbench,
) -> int:
    """Collect the free weights and their pull; how many, 0 when nothing is to be won."""
    p, expected = 0, 0.0
    for i in range(b.shape[0]):
        if b[i] != 0.0 and ridge[i] <= _STIFF * S[i, i]:
            pull = S[j, i] - q[i] - math.copysign(lam[i], b[i]) - ridge[i] * b[i]
            bench.free[p] = i
            bench.pull[p] = pull
            bench.step[p] = pull
            expected += pull * pull / (S[i, i] + ridge[i])
            p += 1
    # Collinear weights can win far more than this sum says, hence the small threshold.
    return p if expected > 1e-3 * worth else 0


@helper
def change_of_objective(S: FloatArray, ridge: FloatArray, bench: Workbench, H: FloatArray) -> float:
    """What the step does while no sign changes: there, the objective is a quadratic function."""
    change = 0.0
    for m in range(H.shape[0]):
        i, delta = bench.free[m], bench.step[m]
        slope = 0.5 * (S[i, i] + ridge[i]) * delta - bench.pull[m]
        for n in range(m):
            slope += H[m, n] * bench.step[n]  # the factor is above the diagonal, S still below
        change += delta * slope
    return change


@helper
def shorten_step(
    S: FloatArray, b: FloatArray, ridge: FloatArray, bench: Workbench, H: FloatArray
) -> float:
    """Keep the step from changing signs; returns what it then does to the objective.

    Weights that would change sign stop at zero. If that raises the objective, the step goes only
    as far as the first of them, where it is sure to fall.
    """
    free, step = bench.free, bench.step
    fastest, whole = 1.0, 0.0
    for m in range(H.shape[0]):
        fastest = max(fastest, -step[m] / b[free[m]])
        whole -= 0.5 * bench.pull[m] * step[m]  # at the minimum, half of the slope is won
    if fastest == 1.0:
        return whole
    for m in range(H.shape[0]):
        H[m, m] = step[m]  # the factor has served: its diagonal remembers the whole step
        if -step[m] / b[free[m]] > 1.0:
            step[m] = -b[free[m]]
    change = change_of_objective(S, ridge, bench, H)
    if not change < 0.0:
        share = 1.0 / fastest
        for m in range(H.shape[0]):
            step[m] = share * H[m, m]
        change = share * (2.0 - share) * whole
    return change


@helper
def newton_step(
    S: FloatArray,
    j: int,
    b: FloatArray,
    q: FloatArray,
    ridge: FloatArray,
    lam: FloatArray,
    worth: float,
    bench: Workbench,
) -> float:
    """Solve for the free weights with their signs held; returns the decrease."""
    free, step = bench.free, bench.step
    p = free_weights(S, j, b, q, ridge, lam, worth, bench)
    H = bench.square[: p * p].reshape((p, p))
    for m in range(p):
        i = free[m]
        for n in range(p):
            H[m, n] = S[i, free[n]]
        H[m, m] += _JITTER * S[i, i] + ridge[i]
    if p == 0 or not cholesky_solve(H, step):
        return 0.0
    change = shorten_step(S, b, ridge, bench, H)
    if not change < 0.0:
        return 0.0
    for m in range(p):
        i = free[m]
        new = b[i] + step[m]
        # A weight that arrives at zero is zero, not a rounding error away from it.
        new = new if new * b[i] > 0.0 and abs(new) > 1e-14 * abs(b[i]) else 0.0
        add_multiple(q, new - b[i], S[i])
        b[i] = new
    return -change


@helper
def count_nonzero(b: FloatArray) -> int:
    """How many entries of b are not zero."""
    count = 0
    for i in range(b.shape[0]):
        if b[i] != 0.0:
            count += 1
    return count


@part
def solve_elastic_net(
    S: FloatArray,
    j: int,
    b: FloatArray,
    q: FloatArray,
    ridge: FloatArray,
    lam: FloatArray,
    worth: float,
    bench: Workbench,
) -> None:
    """Minimise over b from where it is, in place of b and q."""
    won, effort = 0.0, _EFFORT * b.shape[0] ** 1.5
    for _ in range(_ROUNDS):
        before = won
        won = coordinate_pass(S, j, b, q, ridge, lam, worth, won)
        for _ in range(_NEWTON_STEPS):
            step = newton_step(S, j, b, q, ridge, lam, worth, bench)
            won += step
            effort -= float(count_nonzero(b)) ** 3 / 3.0
            if step < 1e-2 * worth or effort < 0.0:
                break
        if won - before < _LITTLE * worth or effort < 0.0:
            break
