"""Writes goldens.json with numpy and scipy, and simulates the table in src/ks.rs.

    python3 make.py            writes goldens.json beside this file
    python3 make.py stephens   prints the table of the modified statistic (5 s)

Instants are whole nanoseconds, as the analysis sees them. Made with scipy 1.17, numpy 2.4.
"""
import json
import pathlib
import sys

import numpy as np
from scipy import special, stats

rng = np.random.default_rng(20240607)


def headways(gaps, rate, laws):
    """Everything the document says of a stream of starts whose first headway is the first gap after time zero."""
    at = np.cumsum(gaps)
    x = np.diff(at).astype(float)
    n, mean = len(x), x.mean()
    cov = x.std(ddof=1) / mean
    g, k = stats.skew(x), stats.kurtosis(x, fisher=False)
    centred = x - mean
    out = {
        "started": at.tolist(),
        "n": n,
        "mean": mean / 1e9,
        "sd": x.std(ddof=1) / 1e9,
        "cov": cov,
        "cov_se": cov * np.sqrt(((k - 1) / 4 + cov**2 - g * cov) / n),
        "skewness": g,
        "kurtosis": k,
        "lag1": (centred[1:] * centred[:-1]).sum() / (centred**2).sum(),
        "quantiles": {str(p): np.quantile(x, p, method="inverted_cdf") / 1e9 for p in (0.5, 0.9, 0.95, 0.99)},
        "min": x.min() / 1e9,
        "max": x.max() / 1e9,
    }
    plan = stats.kstest(x * rate / 1e9, laws)
    out["ks_plan"] = {"d": plan.statistic, "p": plan.pvalue}
    d = stats.kstest(x / mean, stats.expon.cdf).statistic
    out["ks_exponential"] = {"d": d, "scaled": (d - 0.2 / n) * (np.sqrt(n) + 0.26 + 0.5 / np.sqrt(n))}
    end = 4_000_000_000
    out["end"] = end
    out["dispersion"] = {}
    for width in (1_000_000, 10_000_000, 100_000_000):
        counts = np.bincount(at[at < end] // width, minlength=end // width)
        out["dispersion"][str(width / 1e9)] = {
            "index": counts.var(ddof=1) / counts.mean(),
            "windows": len(counts),
            "se": np.sqrt(2 / (len(counts) - 1)),
        }
    return out


def responses():
    """3000 responses due one per ms from 0: AR(1) in the logarithm, so that neighbours depend on each other."""
    n, b = 3000, 20
    noise = rng.normal(size=n)
    level = np.empty(n)
    level[0] = noise[0]
    for i in range(1, n):
        level[i] = 0.8 * level[i - 1] + 0.6 * noise[i]
    x = np.floor(5e6 * np.exp(0.7 * level))
    batches = x.reshape(b, n // b)
    means = batches.mean(axis=1)
    half = stats.t.ppf(0.975, b - 1) * means.std(ddof=1) / np.sqrt(b)
    # Hall (1992): the inverse of t + g t^2/3 + g^2 t^3/27 + g/(6 b), nowhere narrower than Student's t, and at most twice as wide on a side.
    g = stats.skew(means, bias=True) * ((b - 1) / b) ** 1.5 * b * b / ((b - 1) * (b - 2))
    hall = [3 / g * (np.cbrt(1 + g * (t - g / (6 * b))) - 1) * means.std(ddof=1) for t in (half / means.std(ddof=1), -half / means.std(ddof=1))]
    down, up = np.clip(hall[0], half, 2 * half), np.clip(-hall[1], half, 2 * half)
    return {
        "values": x.astype(int).tolist(),
        "mean": x.mean() / 1e9,
        "sd": x.std(ddof=1) / 1e9,
        "quantiles": {str(p): np.quantile(x, p, method="inverted_cdf") / 1e9 for p in (0.5, 0.9, 0.95, 0.99)},
        "ci_mean": [(x.mean() - down) / 1e9, (x.mean() + up) / 1e9],
        "ci_quantile": {str(p): quantile_interval(batches, p) for p in (0.5, 0.9, 0.95)},
    }


def quantile_interval(batches, p):
    """All x at which the batch-means interval of F(x), on the logit's scale, holds p; at the observations. From p95 on shares beyond are not certain that the
    spread at a level beyond which five times as many lie (a quarter at most) allows, grown as that of a queue in heavy traffic."""
    b = len(batches)
    q, n = 1 - p, batches.size
    xs = np.sort(batches.ravel())
    below = (batches[:, None, :] <= xs[None, :, None]).mean(axis=2)
    half = stats.t.ppf(0.975, b - 1) * below.std(axis=0, ddof=1) / np.sqrt(b)
    share = below.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(share < 1, special.logit(share) - special.logit(p), 1)
        half = np.where(share < 1, half / (share * (1 - share)), 0)
    least = most = q
    if q <= 0.05 + 1e-9:
        t = stats.t.ppf(0.975, b - 1)
        level = int(np.ceil((1 - min(5 * q, 0.25)) * n - 1e-9)) - 1
        beyond = 1 - share[level]
        own = (t * below[:, level].std(ddof=1) / np.sqrt(b) / beyond) ** 2
        alone = lambda q: t**2 * (1 - q) / (q * n)
        crowds = own - alone(beyond) if own > (1 + 1.645 * np.sqrt(2 / (b - 1))) * alone(beyond) else 0
        growth = lambda q: (1 - q + q * np.log(q)) / q
        h = np.sqrt(alone(q) + crowds * growth(q) / growth(beyond)) / 2
        least, most = q * (1 - h) ** 2, q * (1 + h) ** 2
    low = np.argmax(~((distance < -half) & (1 - share > most)))
    high = np.argmax(~((distance < half) | (1 - share > least)))
    return [xs[low] / 1e9, xs[high] / 1e9]


def goldens():
    poisson = np.maximum(np.floor(rng.exponential(1e9 / 1000, size=3900)), 1).astype(int)
    gamma = np.maximum(np.floor(rng.gamma(0.25, 4e9 / 1000, size=3500)), 1).astype(int)
    return {
        "poisson": headways(poisson, 1000, stats.expon.cdf),
        "gamma": headways(gamma, 1000, stats.gamma(0.25, scale=4).cdf),
        "responses": responses(),
        "t975": [stats.t.ppf(0.975, df) for df in range(1, 20)],
        "kolmogorov_sf": [[x, special.kolmogorov(x)] for x in (0.3, 0.5, 0.8, 1.0, 1.17, 1.2, 1.358, 1.63, 2.0, 3.0)],
        "clopper_pearson": [
            [k, n, *stats.binomtest(k, n).proportion_ci(0.95, method="exact")]
            for k, n in ((0, 50), (50, 50), (1, 30), (13, 1000), (990, 1000))
        ],
    }


def stephens_table():
    n, t = 400, []
    i = np.arange(1, n + 1)
    for _ in range(150):
        x = np.sort(rng.exponential(size=(4000, n)), axis=1)
        u = 1 - np.exp(-x / x.mean(axis=1, keepdims=True))
        d = np.maximum((i / n - u).max(axis=1), (u - (i - 1) / n).max(axis=1))
        t.append((d - 0.2 / n) * (np.sqrt(n) + 0.26 + 0.5 / np.sqrt(n)))
    t = np.concatenate(t)
    for p in (0.999, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05, 0.025, 0.01, 0.005, 0.001, 0.0001):
        print(f"    ({np.quantile(t, 1 - p):.4f}, {p}),")


if __name__ == "__main__":
    if sys.argv[1:] == ["stephens"]:
        stephens_table()
    else:
        pathlib.Path(__file__).with_name("goldens.json").write_text(json.dumps(goldens()) + "\n")
