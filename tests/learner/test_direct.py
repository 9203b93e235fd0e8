"""Direct learners: the calculus against finite differences, the sign symmetry, and solving what they should."""

import numpy as np
import pytest
from learner_teachers import examples, teacher

from hardness.layer import MultiHeadAttention
from learner import attempt, varpro
from learner.base import Learner, judge
from learner.direct import Adam, Direct, JointLBFGS, examples_wanted
from learner.last_fit import drop_head
from learner.provable.pipeline import Provable


@pytest.mark.parametrize(("m", "k", "d"), [(2, 2, 3), (2, 3, 4), (1, 4, 3)])
def test_normal_matrix_and_gradient_match_finite_differences(m: int, k: int, d: int) -> None:
    X, Y = examples(teacher(m, d, 0), 200, k, 0)
    theta = teacher(m, d, 5).theta
    target = Y.reshape(-1, d)
    P, Z = varpro.attend(X, theta)
    W, R, L = varpro.project(Z, target)
    columns = []
    for index in np.ndindex(theta.shape):
        step = np.zeros_like(theta)
        step[index] = 1e-6
        columns.append((varpro.attend(X, theta + step)[1] - varpro.attend(X, theta - step)[1]) / 2e-6 @ W)
    J = np.stack(columns)  # (m d², rows, d)
    Q = np.linalg.qr(Z)[0]
    J -= np.einsum("rq,pqc->prc", Q, np.einsum("rq,prc->pqc", Q, J))
    expected = np.tensordot(J, J, ((1, 2), (1, 2)))
    w = W.reshape(m, d, d)
    assert np.allclose(np.tril(varpro.normal_matrix(X, P, Z, w, L)), np.tril(expected), atol=1e-7 * expected.max())
    slope = np.tensordot(J, R, 2)
    assert np.allclose(varpro.pull_back(X, P, w, R).ravel(), slope, atol=1e-7 * np.abs(slope).max())


def test_attend_is_the_layer() -> None:
    layer = teacher(3, 5, 1)
    X, Y = examples(layer, 40, 3, 1)
    P, Z = varpro.attend(X, layer.theta)
    assert np.allclose(P, layer.patterns(X), atol=1e-14)
    assert np.allclose(Z @ layer.w.reshape(-1, 5), Y.reshape(-1, 5), atol=1e-13)


def test_on_two_tokens_a_flipped_head_is_a_uniform_head_away() -> None:
    """The symmetry behind the anchor: F(Θ, W) = F(−Θ, −W) + 2 (mean token) W, at k = 2 only."""
    layer = teacher(1, 6, 2)
    flipped = MultiHeadAttention(-layer.theta, -layer.w)
    for k, holds in ((2, True), (3, False)):
        X, Y = examples(layer, 30, k, 2)
        uniform = np.repeat(X.mean(axis=1, keepdims=True), k, axis=1) @ layer.w[0]
        assert np.allclose(Y, flipped(X) + 2 * uniform) is holds


def test_settle_signs_recovers_every_choice_of_signs() -> None:
    layer = teacher(4, 8, 3)
    X, Y = examples(layer, 300, 2, 3)
    for signs in np.ndindex(2, 2, 2, 2):
        wrong = layer.theta * (1 - 2 * np.array(signs))[:, None, None]
        assert np.allclose(varpro.settle_signs(X, Y, wrong), layer.theta)


def test_drop_head_finds_the_spare_one() -> None:
    layer = teacher(3, 8, 4)
    X, Y = examples(layer, 300, 3, 4)
    for spare in (layer.theta[1], teacher(1, 8, 9).theta[0]):
        left = drop_head(X, Y, np.concatenate([layer.theta, spare[None]]))
        _, R, _ = varpro.project(varpro.attend(X, left)[1], Y.reshape(-1, 8))
        assert np.linalg.norm(R) < 1e-9 * np.linalg.norm(Y)


SOLVED = [
    ("two heads", (2, 8, 100), 2, {}, 1e-9),
    ("four heads on three tokens", (4, 8, 100), 3, {}, 1e-9),
    ("a vanishing sum", (3, 8, 8, 2.0, True), 2, {}, 1e-9),
    *((f"{k} tokens without the normal matrix", (3, 8, 5), k, {"dense": 10}, 1e-8) for k in (2, 3)),
]


@pytest.mark.parametrize(("layer", "k", "options", "most"), [row[1:] for row in SOLVED], ids=[row[0] for row in SOLVED])
def test_direct_solves_fresh_layers(
    layer: tuple[int, ...], k: int, options: dict[str, int], most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learner.attempt.DENSE", options.get("dense", attempt.DENSE))
    truth = teacher(*layer)
    learner = Direct(heads=truth.heads, random_state=0).fit(*examples(truth, 1500, k, layer[2]))
    X, Y = examples(truth, 2000, k, 1000)
    assert learner.report_.status == "solved"
    assert judge(learner.predict(X), Y)["relative_error"] <= most


@pytest.mark.slow
@pytest.mark.parametrize("cell", [(2, 2, 8), (4, 2, 8), (4, 3, 8), (8, 2, 8), (4, 2, 16)])
def test_direct_solves_twenty_of_twenty(cell: tuple[int, int, int]) -> None:
    m, k, d = cell
    for seed in range(20):
        layer = teacher(m, d, 100 + seed)
        learner = Direct(heads=m, random_state=seed).fit(*examples(layer, 1500, k, seed))
        X, Y = examples(layer, 2000, k, 1000 + seed)
        assert judge(learner.predict(X), Y)["relative_error"] <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("m", "d", "count", "seeds", "most"), [(10, 8, 2000, 10, 1e-9), (2, 64, 12_000, 1, 1e-6)])
def test_one_start_of_enough_rows_is_enough(m: int, d: int, count: int, seeds: int, most: float) -> None:
    for seed in range(seeds):
        learner = Direct(heads=m, starts=1, random_state=seed).fit(*examples(teacher(m, d, seed), count, 2, seed))
        assert learner.report_.relative_error <= most


@pytest.mark.parametrize(
    ("true", "told", "k", "words"),
    [
        (3, 2, 2, "3 heads were needed, 2 were told"),
        *((2, 4, k, "2 heads suffice, 4 were told") for k in (2, 3)),
    ],
)
def test_direct_says_how_many_heads_there_are(true: int, told: int, k: int, words: str) -> None:
    """It adds a head where one is needed, and keeps none that is not (learner 9 (8))."""
    report = Direct(heads=told, random_state=0).fit(*examples(teacher(true, 8, 7), 1500, k, 7)).report_
    assert (report.status, report.heads, report.phases[-1].reason) == ("solved", true, words)


def test_too_few_examples_are_not_blamed_on_the_heads() -> None:
    """Learner 9 (8): near the counting floor, spare heads fitted anything and were said to be needed."""
    data = examples(teacher(6, 12, 0), 88, 2, 0)
    report = Direct(heads=6, starts=1, iterations=100, random_state=0).fit(*data).report_
    assert "heads were needed" not in " ".join(p.reason for p in report.phases)
    assert (report.status, report.heads) != ("solved", 6)
    assert "give" in report.reason


def test_far_fewer_heads_than_there_are_is_hinted() -> None:
    report = Direct(heads=1, spare=0, starts=2, random_state=0).fit(*examples(teacher(5, 8, 11), 1500, 2, 11)).report_
    assert report.status != "solved"
    assert "more heads" in report.reason


def test_a_start_is_shown_what_one_theta_needs() -> None:
    """Learner 9 (4): 8md examples are fewer than the d²/2 that one Θ takes on two tokens, once d is large."""
    assert examples_wanted(2, 2, 8) == 128
    for heads, tokens, dim in ((2, 2, 40), (2, 2, 64), (1, 3, 48)):
        assert examples_wanted(heads, tokens, dim) >= 4 * dim**2 / (tokens * (tokens - 1))


@pytest.mark.parametrize("kind", [Direct, JointLBFGS])
@pytest.mark.parametrize("gaussian", [False, True])
def test_signs_or_gaussian_tokens(kind: type[Direct], gaussian: bool) -> None:
    layer = teacher(2, 8, 12)
    X = np.random.default_rng(12).normal(size=(1000, 2, 8))
    X = X if gaussian else np.sign(X)
    assert kind(heads=2, random_state=0).fit(X, layer(X)).report_.status == "solved"


@pytest.mark.parametrize(
    "learner", [Direct(starts=2, iterations=100), JointLBFGS(starts=1, iterations=100), Provable(heads=2)]
)
def test_random_labels_are_never_solved(learner: Learner) -> None:
    X, _ = examples(teacher(2, 8, 0), 1000, 2, 0)
    for seed in range(3):
        Y = np.random.default_rng(seed).normal(size=X.shape)
        assert learner.fit(X, Y).report_.status != "solved"


def test_adam_comes_near_a_small_layer() -> None:
    report = Adam(heads=1, iterations=800, random_state=0).fit(*examples(teacher(1, 4, 0), 300, 2, 0)).report_
    assert report.relative_error < 1e-2


@pytest.mark.parametrize("count", [500, 8000])
def test_a_search_that_finds_nothing_takes_no_more_than_it_is_said_to(count, monkeypatch) -> None:
    """What dominates is counted in every product: the fits of W and the gradients by Θ."""
    spent = 0.0

    def counted(name, cost):
        plain = getattr(varpro, name)

        def wrapped(*arguments):
            nonlocal spent
            spent += cost(*arguments)
            return plain(*arguments)

        monkeypatch.setattr(varpro, name, wrapped)

    counted("project", lambda Z, Y: Z.size * (Z.shape[1] / 2 + 4 * Y.shape[1]))
    counted("attend", lambda X, theta: X.size * theta.size / theta.shape[1] + 2 * X.size * X.shape[1] * len(theta))
    counted("pull_back", lambda X, P, w, R: 2 * X.size * (w.size / w.shape[1] + X.shape[1] * len(w)))
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(count, 2, 8))
    search = Direct(heads=2, starts=1, random_state=0)
    assert search.fit(X, rng.normal(size=X.shape)).report_.status == "wrong"
    assert 0.2 < spent / search.multiply_adds(count, 2, 8) < 1
