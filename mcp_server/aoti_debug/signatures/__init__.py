"""Failure signatures, one module a topic: pattern, meaning, fix, guide, samples that test it."""

from aoti_debug.signatures.signature import Match, Sample, Signature, matcher, signatures, texts_of

__all__ = ["Match", "Sample", "Signature", "matcher", "signatures", "texts_of"]
