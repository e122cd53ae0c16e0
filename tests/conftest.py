"""Settings for every test: no test fails because the machine is slow."""

from __future__ import annotations

import os

from hypothesis import settings

# In CI the examples are the same every time; at a desk hypothesis goes on exploring.
settings.register_profile("house", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("house")
