"""Is an attack on hidden inner products modulo 97 as costly as it was estimated to be?

Predicted seconds of two attacks against the number of coordinates, and crosses where the attack bkw was run and gave
the secret back: it took about the second that was predicted.
"""

import matplotlib.pyplot as plt

import hardness

sizes, second = range(16, 97, 8), 30  # an estimate of 2^30 operations is a second of one core
for name in ("lattice", "bkw"):
    estimates = [hardness.estimate("rounding", dim=n + 1, modulus=97, levels=2).attacks for n in sizes]
    costs = [next(each.log2_time for each in attacks if each.name == name) for attacks in estimates]
    plt.semilogy(sizes, [2.0 ** (cost - second) for cost in costs], "o-", label=f"{name}, predicted")
for n in (18, 20, 26):
    layer = hardness.generate("rounding", dim=n + 1, modulus=97, levels=2, seed=0)
    run = hardness.attack(layer, "bkw", 4000, seed=1)
    assert run.secret["w"] == layer.secret["w"].tolist()
    plt.semilogy(n, run.seconds, "kx", label="bkw, measured" if n == 18 else None)
plt.gca().set(xlabel="coordinates of the secret", ylabel="seconds")
plt.legend()
plt.savefig("lwe.svg")
