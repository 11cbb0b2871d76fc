"""``python -m metnos`` is the same as ``metnos``."""

import sys

from metnos.cli import main

sys.exit(main())
