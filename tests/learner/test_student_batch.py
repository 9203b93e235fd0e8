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


@pytest.mark.parametrize("options", [{}, {"optimizer": "sgd"}, {"l1": 0.1, "hinted": True}], ids=str)
@pytest.mark.parametrize("family", [Parity(8, 2), Nondegenerate(5, 3, 2)], ids=["pairs", "triples"])
def test_each_learns_what_it_would_alone(family, options):
    X, Y = examples(family, 3200)
    together = Students(seeds=[4, 5, 6], heads=6, **options)
    together.partial_fit(X[:, :1280], Y[:, :1280]).partial_fit(X[:, 1280:], Y[:, 1280:])
    theta, w = together.layers()
    for i, seed in enumerate((4, 5, 6)):
        alone = Student(heads=6, **options, random_state=seed).partial_fit(X[i], Y[i])
        assert np.allclose(theta[i], alone.layer_.theta, atol=2e-3)
        assert np.allclose(w[i], alone.layer_.w, atol=2e-3)
        assert np.allclose(together.predict(X)[i], alone.predict(X[i]), atol=2e-2)
        assert np.isclose(together.explained(X, Y)[i], alone.score(X[i], Y[i]), atol=1e-2)


def test_settings_of_a_menu_are_tried_side_by_side():
    X, Y = (np.repeat(part, 3, axis=0) for part in examples(Parity(8, 2), 1920, 1))
    rates, penalties = (3e-3, 0.01, 0.03), (0.0, 0.06, 0.12)
    theta, _ = Students(seeds=[4, 4, 4], rate=rates, l1=penalties).partial_fit(X, Y).layers()
    for i in range(3):
        alone = Student(rate=rates[i], l1=penalties[i], random_state=4).partial_fit(X[i], Y[i]).layer_.theta
        assert np.allclose(theta[i], alone, atol=5e-3)
        assert (theta[i] == 0).any() == (penalties[i] > 0)


def test_a_student_on_a_device_is_the_compiled_one_to_the_accuracy_of_float32():
    (X,), (Y,) = examples(Parity(8, 2), 3200, 1)
    ours, torchs = (Student(l1=0.05, device=on, random_state=1).partial_fit(X, Y) for on in (None, "cpu"))
    assert np.allclose(ours.layer_.theta, torchs.layer_.theta, atol=2e-3)
    assert np.allclose(ours.curve_, torchs.curve_, atol=1e-3)


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


@pytest.mark.parametrize(
    "options", [{"rate": [0.1, 0.2]}, {"l1": [0.1, 0.2, -1]}, {"batch": 0}, {"seeds": []}], ids=str
)
def test_bad_options_are_refused(options):
    with pytest.raises(InputError):
        Students(**{"seeds": [0, 1, 2]} | options)


def test_a_gpu_learns_the_same(torch):
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    X, Y = examples(Parity(8, 2), 3200)
    both = [Students(seeds=[0, 1, 2], device=device).partial_fit(X, Y).layers() for device in ("cpu", "cuda")]
    assert np.allclose(both[0][0], both[1][0], atol=2e-3)
