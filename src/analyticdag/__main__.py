"""``python -m analyticdag`` is the ``analyticdag`` command."""

from analyticdag.cli import main

main()
