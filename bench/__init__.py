"""Benchmarks: what Metnos costs over the plainest thing that does the same job.

``python -m bench`` lists them and ``python -m bench store`` runs one. Every figure is a ratio against a baseline that
was measured in the same run, because the same machine is twice as fast an hour later; absolute figures stand beside
the ratios for orientation only. A benchmark reports and never gates: a missed target is printed, not raised.
"""
