"""Every error the package raises on purpose, as one tree.

    AnalyticDAGError
    ├── InputError (also a ValueError)       something the caller passed cannot be used
    │   ├── DataError                        the table: NaN, text, too few rows, duplicate names
    │   │   └── DataKindError (also a TypeError)   no table at all: sparse, a dict, a path
    │   ├── ParameterError                   an argument, or a combination of arguments
    │   ├── KnowledgeError                   required/forbidden edges or tiers that contradict
    │   ├── NotInClassError                  an operation would leave the class F
    │   └── OutsideDomainError               a matrix at or past the radius of its constraint
    ├── OutputError (also an OSError)        a result cannot be written: no room, no permission
    └── MissingDependencyError (also an ImportError)   an optional package is not installed

A message says what was asked, what came, and what to do. What can be survived is a warning:

    AnalyticDAGWarning (a UserWarning)
    ├── DataWarning                          columns that are constant, duplicate or collinear
    ├── IgnoredParameterWarning              a parameter that has no influence beside the others
    ├── ScaleWarning                         the loss feeds on scales that the data no longer have
    ├── NotConvergedWarning                  a run stopped before it met its tolerance
    └── OpenEdgesWarning                     an answer depends on directions that nothing fixes
"""

from __future__ import annotations

__all__ = [
    "AnalyticDAGError",
    "AnalyticDAGWarning",
    "DataError",
    "DataKindError",
    "DataWarning",
    "IgnoredParameterWarning",
    "InputError",
    "KnowledgeError",
    "MissingDependencyError",
    "NotConvergedWarning",
    "NotInClassError",
    "OpenEdgesWarning",
    "OutputError",
    "OutsideDomainError",
    "ParameterError",
    "ScaleWarning",
]


class AnalyticDAGError(Exception):
    """Root of every error raised by analyticdag."""


class InputError(AnalyticDAGError, ValueError):
    """Something the caller passed cannot be used."""


class DataError(InputError):
    """The data (a table, a matrix, a covariance) cannot be used as it is."""


class DataKindError(DataError, TypeError):
    """The data are of a kind that holds no table of numbers."""


class ParameterError(InputError):
    """An argument, or a combination of arguments, makes no sense."""


class KnowledgeError(InputError):
    """Background knowledge is contradictory or names unknown variables."""


class NotInClassError(InputError):
    """A function has a power-series coefficient that is not positive."""


class OutsideDomainError(InputError):
    """The spectral radius of A reaches the radius of convergence of f."""

    def __init__(self, spectral_radius: float, radius: float) -> None:
        self.spectral_radius = spectral_radius
        self.radius = radius
        super().__init__(
            f"the constraint needs rho(A) < {radius:g}, but rho(A) = {spectral_radius:g}; "
            "scale the weights down, use f.scaled(s) with a larger s, "
            "or call adaptive(W), which resets s as Algorithm 1 does"
        )

    def __reduce__(self) -> tuple[type[OutsideDomainError], tuple[float, float]]:
        # Process pools pickle exceptions by their message; ours is built from two numbers.
        return type(self), (self.spectral_radius, self.radius)


class OutputError(AnalyticDAGError, OSError):
    """A result cannot be written where it was asked for."""


class MissingDependencyError(AnalyticDAGError, ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, package: str, extra: str, project: str = "analyticdag") -> None:
        self.package = package
        self.extra = extra
        self.project = project
        super().__init__(f"{package} is not installed; run: pip install '{project}[{extra}]'")

    def __reduce__(self) -> tuple[type[MissingDependencyError], tuple[str, str, str]]:
        return type(self), (self.package, self.extra, self.project)


class AnalyticDAGWarning(UserWarning):
    """Root of every warning given by analyticdag."""


class DataWarning(AnalyticDAGWarning):
    """Columns of the data carry less information than they seem to."""


class IgnoredParameterWarning(AnalyticDAGWarning):
    """A parameter was set that has no influence beside the others; the message says what has."""


class ScaleWarning(AnalyticDAGWarning):
    """The chosen loss reads the scales of the columns, and they look standardised."""


class NotConvergedWarning(AnalyticDAGWarning):
    """A run stopped before it met its tolerance; the message says what to do."""


class OpenEdgesWarning(AnalyticDAGWarning):
    """An answer depends on edges whose direction is open; the message lists them."""
