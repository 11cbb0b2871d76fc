"""The ground: records, errors, clock, ids, decay, canonical forms, signatures, settings. Imports nothing of ours."""
