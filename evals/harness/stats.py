"""Intervals, differences and what this number of cases can show; by scipy and statsmodels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Successes = Mapping[str, Sequence[bool]]  # case -> one for each epoch


@dataclass(frozen=True, slots=True)
class Share:
    value: float
    low: float
    high: float
    effective: float  # cases, after those of one family count as alike as they are


@dataclass(frozen=True, slots=True)
class Difference:
    """Of arm B to arm A over the same cases."""

    value: float
    low: float
    high: float
    p: float
    p_holm: float


def share(successes: Successes, family: Mapping[str, str]) -> Share:
    from statsmodels.stats.proportion import proportion_confint

    means = {case: sum(found) / len(found) for case, found in successes.items() if found}
    count = len(means)
    value = sum(means.values()) / count
    effective = count / design_effect(means, family)
    low, high = proportion_confint(value * effective, effective, method="wilson")
    return Share(value, float(low), float(high), effective)


def design_effect(means: Mapping[str, float], family: Mapping[str, str]) -> float:
    """Return how much larger the variance is than of independent cases (at least 1)."""
    groups: dict[str, list[float]] = {}
    for case, value in means.items():
        groups.setdefault(family[case], []).append(value)
    count, clusters = len(means), len(groups)
    size = count / clusters
    if clusters < 2 or size <= 1:
        return 1.0
    mean = sum(means.values()) / count
    between = sum(len(g) * (sum(g) / len(g) - mean) ** 2 for g in groups.values()) / (clusters - 1)
    within = sum((x - sum(g) / len(g)) ** 2 for g in groups.values() for x in g)
    within /= max(count - clusters, 1)
    total = between + (size - 1) * within
    correlation = (between - within) / total if total else 0.0
    return max(1.0, 1 + (size - 1) * correlation)


def all_of(successes: Successes, times: int = 3) -> float | None:
    """Return pass^3: the share of cases in which each of the first epochs succeeds."""
    enough = [found[:times] for found in successes.values() if len(found) >= times]
    return sum(map(all, enough)) / len(enough) if enough else None


def differences(arms: Mapping[str, Successes], base: str) -> dict[str, Difference]:
    """Compare every arm with `base`: bootstrap over the cases that both have, Holm over arms."""
    import numpy
    from scipy import stats
    from statsmodels.stats.multitest import multipletests

    found: dict[str, tuple[float, float, float, float]] = {}
    for arm, successes in arms.items():
        both = sorted(successes.keys() & arms[base].keys())
        if arm == base or len(both) < 2:
            continue
        gain = numpy.array([_mean(successes[c]) - _mean(arms[base][c]) for c in both])
        if (gain == gain[0]).all():
            same = float(gain[0])
            found[arm] = (same, same, same, float(same == 0))
            continue
        how = {"n_resamples": 9999, "rng": 0}
        low, high = stats.bootstrap(
            (gain,), numpy.mean, method="percentile", **how
        ).confidence_interval
        test = stats.permutation_test((gain,), numpy.mean, permutation_type="samples", **how)
        found[arm] = (float(gain.mean()), float(low), float(high), float(test.pvalue))
    holm = multipletests([one[3] for one in found.values()], method="holm")[1] if found else []
    return {
        arm: Difference(*one, float(p)) for (arm, one), p in zip(found.items(), holm, strict=True)
    }


def detectable(cases: int, disagree: float = 0.4, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest difference of two arms that so many paired cases show, where the arms
    disagree on this share of them."""
    from scipy.stats import norm

    spread = (norm.ppf(1 - alpha / 2) + norm.ppf(power)) * (disagree / cases) ** 0.5
    return float(min(1.0, spread))


def _mean(found: Sequence[bool]) -> float:
    return sum(found) / len(found)
