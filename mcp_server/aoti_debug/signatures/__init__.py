"""Failure signatures, one a file, by topic: pattern, meaning, fix, guide, samples that test it."""

from aoti_debug.signatures.signature import Match, Sample, Signature, matcher, signatures

__all__ = ["Match", "Sample", "Signature", "matcher", "signatures"]
