"""The elastic net of one column: over b with b_j = 0,

    ½ b'Sb - S_j'b + Σ_i lam_i |b_i| + ½ Σ_i ridge_i b_i².

Coordinate steps decide which weights are non-zero, Newton steps how large they are: the former
crawl along the narrow valleys of collinear variables, the latter cross them at once. ``lam`` is inf
where an edge may not exist; q = S b is kept up to date by whoever changes b.
"""

from __future__ import annotations

import numpy as np

from analyticdag._compiled import cython
from analyticdag._compiled.libc import copysign, fabs, sqrt
from analyticdag._compiled.vectors import add_multiple, at, start, start_integers
from analyticdag.optimize.columns.cholesky import cholesky_solve

# A weight whose ridge exceeds its own variance so many times is left to the coordinate steps: it
# hardly moves with the others, and would make the Newton system three times larger for nothing.
STIFF = 30.0
JITTER = 1e-9  # relative; makes duplicated columns solvable
# Of coordinate steps, then Newton steps. Two are as good as more (docs/design/column-path.md).
ROUNDS = 10
NEWTON_STEPS = 5
# Multiply-adds spent on Newton systems in one elastic net, per d^1.5. In the first sweeps columns
# can have hundreds of parents; solving them to the end would be wasted, the others still move.
EFFORT = 500.0
# A single step may cost this many times as much beyond: up to 500 nodes none costs more, at 1,000 a
# column with 700 parents. (With 3 a column of 400 parents among 500 nodes had no step, and two of
# four paths ended elsewhere.) Without a limit, a step costs d³/3 in tables of few rows.
OVERDRAFT = 6.5
LITTLE = 3.0  # rounds end when one wins less than this many times the least worth of a weight


@cython.cclass
class Net:
    """An elastic net: what is given, the weights, and scratch memory for the Newton system."""

    d: cython.Py_ssize_t
    S: cython.doubles
    diagonal: cython.doubles  # of S, side by side
    target: cython.p_double  # row j of S
    lam: cython.p_double
    worth: cython.double  # a weight that lowers the objective by less stays at zero
    ridge: cython.doubles
    b: cython.doubles
    q: cython.p_double  # S b
    free: cython.longlongs
    pull: cython.doubles  # minus the gradient
    step: cython.doubles
    square: cython.doubles

    def __init__(self, S: cython.doubles, d: cython.Py_ssize_t) -> None:
        self.d = d
        self.S = S
        self.diagonal = np.array(S[:: d + 1])
        self.ridge, self.b = np.empty(d), np.empty(d)
        self.pull, self.step = np.empty(d), np.empty(d)
        self.free, self.square = np.empty(d, np.int64), np.empty(d * d)


@cython.part
def solve_elastic_net(net: Net) -> cython.void:
    """Minimise over b from where it is, in place of b and q."""
    won, effort = 0.0, EFFORT * net.d * sqrt(net.d)
    for _ in range(ROUNDS):
        before = won
        won = coordinate_pass(net, won)
        for _ in range(NEWTON_STEPS):
            if effort - cost_of_step(net) < -OVERDRAFT * EFFORT * net.d * sqrt(net.d):
                break
            step = newton_step(net)
            won += step
            effort -= cost_of_step(net)  # without the weights that the step put to zero
            if step < 1e-2 * net.worth or effort < 0.0:
                break
        if won - before < LITTLE * net.worth or effort < 0.0:
            break


@cython.part
def cost_of_step(net: Net) -> cython.double:
    """Multiply-adds of a Newton step on the weights that are not zero."""
    size = float(count_nonzero(start(net.b), net.d))
    return size * size * size / 3.0


@cython.part
def coordinate_pass(net: Net, credit: cython.double) -> cython.double:
    """Put each weight where it is best; returns credit + the decrease.

    A weight worth less than ``worth`` is kept at zero, or put there if what the column has won so
    far (``credit``) pays for it: so the pass as a whole never raises the objective.
    """
    S, diagonal, ridge, b = start(net.S), start(net.diagonal), start(net.ridge), start(net.b)
    q, target, lam, worth, d = net.q, net.target, net.lam, net.worth, net.d
    for i in range(d):
        old, own = b[i], diagonal[i] + ridge[i]
        pull = target[i] - q[i] + diagonal[i] * old
        strength = max(fabs(pull) - lam[i], 0.0)
        best = 0.5 * strength * strength / own if strength > 0.0 else 0.0
        now = 0.0
        if old == 0.0:
            if best < worth or strength == 0.0:
                continue
        else:
            now = (pull - 0.5 * own * old) * old - lam[i] * fabs(old)  # what it is worth as it is
        new = copysign(strength / own, pull) if strength > 0.0 else 0.0
        if best < worth and now <= credit:
            best, new = 0.0, 0.0
        if new == old or (best - now < 1e-3 * worth and new != 0.0):
            continue
        credit += best - now
        add_multiple(q, new - old, at(S, i * d), d)
        b[i] = new
    return credit


@cython.part
def newton_step(net: Net) -> cython.double:
    """Solve for the free weights with their signs held; returns the decrease."""
    S, diagonal, ridge, b = start(net.S), start(net.diagonal), start(net.ridge), start(net.b)
    free, step, H, d = start_integers(net.free), start(net.step), start(net.square), net.d
    p = free_weights(net)
    for m in range(p):
        row = at(S, free[m] * d)
        for n in range(p):
            H[m * p + n] = row[free[n]]
        H[m * p + m] += JITTER * diagonal[free[m]] + ridge[free[m]]
    if p == 0 or not cholesky_solve(H, step, p):
        return 0.0
    change = shorten_step(net, p)
    if not change < 0.0:
        return 0.0
    for m in range(p):
        i = free[m]
        new = b[i] + step[m]
        # A weight that arrives at zero is zero, not a rounding error away from it.
        new = new if new * b[i] > 0.0 and fabs(new) > 1e-14 * fabs(b[i]) else 0.0
        add_multiple(net.q, new - b[i], at(S, i * d), d)
        b[i] = new
    return -change


@cython.part
def free_weights(net: Net) -> cython.Py_ssize_t:
    """Collect the free weights and their pull; how many, 0 when nothing is to be won."""
    diagonal, ridge, b, q = start(net.diagonal), start(net.ridge), start(net.b), net.q
    free, pulls, step = start_integers(net.free), start(net.pull), start(net.step)
    p: cython.Py_ssize_t = 0
    expected = 0.0
    for i in range(net.d):
        if b[i] != 0.0 and ridge[i] <= STIFF * diagonal[i]:
            pull = net.target[i] - q[i] - copysign(net.lam[i], b[i]) - ridge[i] * b[i]
            free[p] = i
            pulls[p] = pull
            step[p] = pull
            expected += pull * pull / (diagonal[i] + ridge[i])
            p += 1
    # Collinear weights can win far more than this sum says, hence the small threshold.
    return p if expected > 1e-3 * net.worth else 0


@cython.part
def shorten_step(net: Net, p: cython.Py_ssize_t) -> cython.double:
    """Keep the step from changing signs; returns what it then does to the objective.

    Weights that would change sign stop at zero. If that raises the objective, the step goes only
    as far as the first of them, where it is sure to fall.
    """
    b, pull, step, H = start(net.b), start(net.pull), start(net.step), start(net.square)
    free = start_integers(net.free)
    fastest, whole = 1.0, 0.0
    for m in range(p):
        fastest = max(fastest, -step[m] / b[free[m]])
        whole -= 0.5 * pull[m] * step[m]  # at the minimum, half of the slope is won
    if fastest == 1.0:
        return whole
    for m in range(p):
        H[m * p + m] = step[m]  # the factor is no longer needed: its diagonal keeps the whole step
        if -step[m] / b[free[m]] > 1.0:
            step[m] = -b[free[m]]
    change = change_of_objective(net, p)
    if not change < 0.0:
        share = 1.0 / fastest
        for m in range(p):
            step[m] = share * H[m * p + m]
        change = share * (2.0 - share) * whole
    return change


@cython.part
def change_of_objective(net: Net, p: cython.Py_ssize_t) -> cython.double:
    """What the step does while no sign changes: there, the objective is a quadratic function."""
    diagonal, ridge, free = start(net.diagonal), start(net.ridge), start_integers(net.free)
    pull, step, H = start(net.pull), start(net.step), start(net.square)
    change = 0.0
    for m in range(p):
        i, delta = free[m], step[m]
        slope = 0.5 * (diagonal[i] + ridge[i]) * delta - pull[m]
        for n in range(m):
            slope += H[m * p + n] * step[n]  # the factor is above the diagonal, S still below
        change += delta * slope
    return change


@cython.part
def count_nonzero(b: cython.p_double, d: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """How many entries of b are not zero."""
    count: cython.Py_ssize_t = 0
    for i in range(d):
        if b[i] != 0.0:
            count += 1
    return count
