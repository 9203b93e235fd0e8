"""Does a learner of my own learn a hard layer as it learns a nice one?

Error against examples, where 1 is the error of a constant: after 16,000 examples a small network errs by a ninth on a
random layer of four heads, and by nearly 1 on four heads that hide a parity.
"""

import matplotlib.pyplot as plt
from sklearn.neural_network import MLPRegressor

import hardness


class Network:
    def fit(self, X, Y):
        self.network = MLPRegressor(max_iter=40, random_state=0).fit(X.reshape(len(X), -1), Y[:, :, 0])

    def predict(self, X):
        return self.network.predict(X.reshape(len(X), -1))[:, :, None] * ([1] + [0] * (X.shape[2] - 1))


counts = [1000, 4000, 16000]
for name in ("random-diagonal", "parity"):
    instance = hardness.generate(name, dim=10, heads=4, seed=0)
    models = [hardness.learn(instance, Network, count, seed=1).model for count in counts]
    errors = [hardness.judge(instance, model.predict, seed=2)["open_error"] for model in models]
    plt.loglog(counts, errors, "o-", label=name)
plt.gca().set(xlabel="examples", ylabel="mean squared error")
plt.legend()
plt.savefig("own_learner.svg")
