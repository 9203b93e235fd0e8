"""The controls of hidden parities: random heads of the same form, and the same heads with other signs."""

import numpy as np
import pytest

from hardness.errors import InputError
from hardness.evaluation.learning import learn
from hardness.families.controls import RandomDiagonal, Tent
from hardness.families.parity import Parity
from hardness.instance import Instance, every_pair
from hardness.scores import fresh, judge
from hardness.tokens import unpack


@pytest.mark.parametrize(
    "family", [RandomDiagonal(6, 3), RandomDiagonal(70, 2, 6.0), Tent(7, 4), Tent(7, 5)], ids=repr
)
def test_labels_are_those_of_the_dense_layer(family):
    instance = Instance.generate(family, 0)
    examples = instance.examples(500, 1)
    np.testing.assert_allclose(examples.Y, instance.layer()(examples.X), atol=1e-12)
    assert all(check.ok for check in instance.verify())
    part = instance.examples(7, 1, start=13)
    assert (examples.Y[13:20] == part.Y).all()
    assert judge(instance, instance.layer())["open_error"] < 1e-12
    assert judge(instance, lambda X: 0.0 * X)["open_error"] > 0.8


@pytest.mark.parametrize("family", [RandomDiagonal(12, 3), RandomDiagonal(12, 3, 6.0)], ids=repr)
def test_the_variance_of_random_labels_is_one(family):
    for seed in range(3):
        instance = Instance.generate(family, seed)
        assert instance.informative(1 << 16, 1).Y.var() == pytest.approx(1, abs=0.06)
        assert fresh(instance, 10, 0).variance == 1


def test_a_tent_is_its_parity_but_for_signs():
    support = np.array([1, 3, 4, 6])
    tent, parity = (family.realize({"support": support}) for family in (Tent(8, 4), Parity(8, 4)))
    assert (np.abs(tent.coefficients) == np.abs(parity.coefficients)).all()
    assert np.sign(tent.coefficients).tolist() == [1, 1, -1, -1]
    assert (tent.layer().theta == parity.layer().theta).all()
    assert (tent.values == tent.values[::-1]).all()


def test_a_tent_of_even_size_has_no_odd_part_and_degree_two_explains_most_of_it():
    teacher = Instance.generate(Tent(5, 4), 0).teacher  # its four coordinates are all that there are
    X = unpack(every_pair(5), 5)
    X = X[X[:, 0, 0] != X[:, 1, 0]]
    value, v = (teacher(X) * X)[:, 0, 0], (X[:, 0] * X[:, 1])[:, 1:].astype(float)
    value = value - value.mean()
    linear = np.linalg.lstsq(v, value)[0]
    assert np.abs(linear).max() < 1e-12
    pairs = np.stack([v[:, i] * v[:, j] for i in range(4) for j in range(i)], axis=1)
    rest = value - pairs @ np.linalg.lstsq(pairs, value)[0]
    assert 0.8 < 1 - rest.var() / value.var() < 1


@pytest.mark.parametrize("family", [Tent(12, 4), RandomDiagonal(12, 4)], ids=repr)
def test_controls_are_learned_within_thousands_of_examples(family):
    assert learn(Instance.generate(family, 0), "diagonal", 30_000, seed=0).open_solved


@pytest.mark.parametrize(
    "make",
    [lambda: Tent(8, 2), lambda: Tent(3, 4), lambda: RandomDiagonal(1, 1), lambda: RandomDiagonal(4, 2, 0.0)],
)
def test_parameters_are_checked(make):
    with pytest.raises(InputError):
        make()
