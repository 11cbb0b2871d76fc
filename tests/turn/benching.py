"""What these tests share with the benchmarks: homes for scenarios, and the exchanges of the real model."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # `python -m pytest` has it there, `pytest` has not

from bench import llm_home, llm_record

__all__ = ["llm_home", "llm_record"]
