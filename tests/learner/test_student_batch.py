"""Students in one batch of torch learn what each would alone, in numpy and compiled."""

import numpy as np
import pytest

from hardness.errors import InputError
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.instance import Instance
from learner.student import Student
from learner.student_batch import Students


@pytest.fixture(autouse=True)
def torch():
    """Imported where it is used: that takes seconds, and every process that collects the tests would wait for them."""
    return pytest.importorskip("torch")


def examples(family: object, count: int, students: int = 3) -> tuple[np.ndarray, np.ndarray]:
    parts = [Instance.generate(family, seed).examples(count, 10 + seed) for seed in range(students)]
    return np.stack([part.X for part in parts]), np.stack([part.Y for part in parts])


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("family", [Parity(8, 2), Nondegenerate(5, 3, 2)], ids=["pairs", "triples"])
def test_each_learns_what_it_would_alone(family, optimizer):
    X, Y = examples(family, 3200)
    together = Students(seeds=[4, 5, 6], heads=6, optimizer=optimizer)
    together.partial_fit(X[:, :1280], Y[:, :1280]).partial_fit(X[:, 1280:], Y[:, 1280:])
    theta, w = together.layers()
    for i, seed in enumerate((4, 5, 6)):
        alone = Student(heads=6, optimizer=optimizer, random_state=seed).partial_fit(X[i], Y[i])
        assert np.allclose(theta[i], alone.layer_.theta, atol=2e-3)
        assert np.allclose(w[i], alone.layer_.w, atol=2e-3)
        assert np.allclose(together.predict(X)[i], alone.predict(X[i]), atol=2e-2)
        assert np.isclose(together.explained(X, Y)[i], alone.score(X[i], Y[i]), atol=1e-2)


def test_they_solve_nice_layers():
    X, Y = examples(Nondegenerate(6, 2, 1), 32_000, 2)
    fresh = examples(Nondegenerate(6, 2, 1), 33_000, 2)
    students = Students(seeds=[0, 1]).partial_fit(X, Y)
    assert students.explained(fresh[0][:, 32_000:], fresh[1][:, 32_000:]).min() > 0.9


@pytest.mark.parametrize("device", ["abacus", "cuda:99"])
def test_a_device_that_is_not_there_is_refused_in_one_line(device):
    with pytest.raises(InputError) as caught:
        Students(seeds=[0], device=device)
    assert "\n" not in str(caught.value)


def test_bad_arrays_are_refused():
    X, Y = examples(Parity(6, 2), 128)
    for x, y in ((X[:2], Y[:2]), (X[:, :100], Y[:, :100]), (X, Y[:, :64])):
        with pytest.raises(InputError):
            Students(seeds=[0, 1, 2]).partial_fit(x, y)


def test_a_gpu_learns_the_same(torch):
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    X, Y = examples(Parity(8, 2), 3200)
    both = [Students(seeds=[0, 1, 2], device=device).partial_fit(X, Y).layers() for device in ("cpu", "cuda")]
    assert np.allclose(both[0][0], both[1][0], atol=2e-3)
