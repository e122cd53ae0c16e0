"""Learn causal graphs from data with analytic acyclicity constraints."""

__version__ = "0.1.0.dev0"
__all__ = ["__version__"]
