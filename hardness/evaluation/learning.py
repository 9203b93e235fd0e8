"""One learner, one instance: the learner is handed examples, and the judge says what it learned, on fresh ones."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.errors import InputError, TrialEnded, one_line, sanitize
from hardness.evaluation.conformance import HEADS
from hardness.evaluation.limits import clock, threads_limited
from hardness.evaluation.solver import VERDICTS, Solver, make
from hardness.evaluation.until import Evaluation, Labelled, evaluations, sizes
from hardness.evaluation.worker import FOREVER, Worker, opening
from hardness.examples import Examples, read
from hardness.families.concepts import ParityConcepts
from hardness.gadgets.coefficients import informative
from hardness.instance import Check, Instance
from hardness.io.fields import one_of, require_memory, whole
from hardness.io.texts import table
from hardness.layer import MultiHeadAttention
from hardness.scores import CRITERIA, EXPLAINED, OPEN, SCORES, Criterion, Judged, exact, fresh

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST, SPACING = 64, 1.25  # examples at the first evaluation of `learn`, and how much later the next one is
MOST_EXAMPLES = 2**48  # examples of a stream: at a million a second, nine years
SHARE = 10  # of an examples file, one row in this many is held out for the judge
RECOVERED = 0.01  # relative error of Θ and W up to which a head counts as recovered
FLATTEN = (
    "wrap it in a class that flattens: fit on X.reshape(len(X), -1) and Y.reshape(len(Y), -1), and return "
    "predictions.reshape(X.shape)"
)
STRUCTURED = ("parity", "rounding", "tent")  # families whose examples say what values a label can have


class Trial(dict[str, Any]):
    """Hold the result of `learn`: a dict of status, scores and figures by name, which are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def plot(self) -> "Figure":
        """Return a figure of explained variance against examples: one point if the learner has no `partial_fit`."""
        import matplotlib.pyplot as plt  # it tells notebooks how figures are shown

        examples, explained = np.array(self.get("curve") or [(self["train_examples"], self["explained"])]).T
        bottom = -0.1
        figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
        plt.close(figure)  # a notebook shows what is returned, and nothing besides
        axes.plot(examples, np.maximum(explained, bottom), marker=".")
        below = explained < bottom
        axes.plot(examples[below], np.full(below.sum(), bottom), "C0v", clip_on=False)  # far below the axes
        axes.axhline(EXPLAINED.threshold, color="dimgray", linestyle="--", linewidth=1)
        axes.set(xscale="log", xlabel="examples", ylabel="variance explained", ylim=(bottom, 1.05))
        axes.set_title(f"{self['learner']}: {self['status']}, {explained[-1]:.3g} explained")
        return figure

    def _repr_html_(self) -> str:
        names = ("status", "reason", "criterion", *SCORES, "exact", "certified", "train_examples", "seconds")
        shown = {name: self.get(name) for name in names}
        shown |= {p["name"]: f"{p['verdict']}: {p['reason']}".rstrip(": ") for p in self.last_phases}
        if heads := self.get("heads"):
            shown["heads recovered"] = f"{heads['recovered']} of {len(heads['order'])}"
        return table(f"Trial of {self.get('learner')}", shown)

    @property
    def last_phases(self) -> list[dict[str, Any]]:
        """Return the phases (stages of its work) that a learner reported; of numbered rounds, only the last."""
        return list({each["name"].rstrip(" 0123456789"): each for each in self["phases"]}.values())


def learners() -> list[str]:
    """Return the names of the registered learners, in order."""
    return registry.names("learner")


def learn(
    target: Instance | Examples | str | Path,
    learner: Any,
    count: int | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    test: int = 2000,
    seed: int | None = None,
    heads: int | str | None = None,
    threads: int = 1,
    limit: float | None = None,
    criterion: str = "explained",
    progress: Callable[[str], None] = lambda line: None,
) -> Trial:
    """Fit a learner on `count` examples of an instance, and judge it on `test` fresh ones.

    `learner` is a registered name, ``package.module:Class``, a class or an object; `options` are arguments of its
    constructor. A name that is not built in runs in a worker process, anything else in this process (`process` of the
    result says which), with `threads` threads; it is ended after `limit` seconds. If `target` is examples, or a file of
    them, a tenth is held out to judge on. `seed` drives examples and learner, `progress` is called with lines of news.

    The `status` of the result is `solved` where the `criterion` is met: `explained`, nine tenths of the labels'
    variance; `signs`, .99 of the signs; `exact`, a relative error of 1e-6. Else it is `refused`, `budget` or
    `certified` if the learner's own report says so, `error`, `killed` or `timeout` with a one-line `reason` if it was
    ended, and otherwise `wrong`. The scores are those of `hardness.judge`. `model` is the fitted learner, or None if it
    ran in a worker. A learner without `partial_fit` gets the number of heads, `heads` if given. One with it sees
    each example once, and has its own width unless `heads` is given. Its result also has what its `work_` holds and two
    lists of (examples, score): `curve`, explained variance, and `open_curve`, squared error where tokens differ in
    coordinate 0. Raises `InputError` if a learner refuses options or examples.

    >>> import hardness
    >>> nice = hardness.Instance.generate(hardness.Nondegenerate(dim=4, tokens=2, heads=1), seed=0)
    >>> learned = learn(nice, "direct", 500, options={"starts": 8}, seed=1)
    >>> learned.status, learned.relative_error < 1e-6, type(learned.model).__name__
    ('solved', True, 'Direct')
    """
    one_of("criterion", criterion, CRITERIA)
    spawned = np.random.SeedSequence(seed).spawn(2)
    sampling, state = (int(child.generate_state(1, np.uint64)[0]) for child in spawned)
    solver = Solver("learner", learner, dict(options or {}), heads)
    streamed = solver.streamed
    if isinstance(target, Instance):
        whole("count", count, 1, MOST_EXAMPLES, "learn needs the number of examples to learn from")
        whole("test", test, 2, MOST_EXAMPLES)
        count = int(count or 0)
        held = 9.0 * (test if streamed else count + test) * target.family.tokens * target.family.dim
        require_memory(held, f"a set of {count} examples", "lower --count")
        progress(f"making {count} examples to learn from, {test} to judge on")
        judged = fresh(target, test, sampling, start=count)
        given, solver = _read_by(solver, target, sampling), replace(solver, heads_known=target.heads)
    else:
        if not isinstance(target, Examples | str | Path):
            raise InputError(
                f"learn takes an instance, examples or a file of them, got {sanitize(target, 60)}; "
                "Instance.generate makes an instance of a family"
            )
        examples, public = (target, {}) if isinstance(target, Examples) else read(Path(target))
        given, judged, count = _split(examples, public.get("family"), count)
        solver = replace(solver, heads_known=public.get("heads"))
    model = make(solver, state % 2**32) if solver.built_in and isinstance(solver.thing, type) else None
    result = Trial(
        status="error",
        learner=learner if isinstance(learner, str) else getattr(learner, "__name__", type(learner).__name__),
        train_examples=count,
        process="caller" if solver.built_in else "worker",
        reason="",
        **dict.fromkeys((*SCORES, "exact")),
        phases=[],
        model=model or (learner if solver.built_in else None),
        **({"options": dict(options)} if options else {}),
    )
    if model is not None:
        solver = replace(solver, name=model)
    opens = opening(solver, state, FOREVER if limit is None else limit, threads)
    points: list[Evaluation] = []
    started = time.perf_counter()
    progress(f"fitting {count} examples")
    try:
        ends = sizes(count, FIRST, SPACING) if streamed else [count]
        with threads_limited(threads):
            for point in evaluations(opens, streamed, given, judged, ends):
                points.append(point)
                share = point.scores["explained"]
                shown = "not finite" if share is None else f"{share:.2f} of the variance explained"
                progress(f"{point.examples} of {count} examples: {shown}")
        result |= _result(points, judged, streamed, CRITERIA[criterion])
    except TimeoutError:
        result |= {"status": "timeout", "reason": f"over {limit:g} s"}
    except TrialEnded as error:
        if error.status == "refused":
            raise InputError(error.reason) from error
        result |= {"status": error.status, "reason": error.reason}
    except (InputError, MemoryError):
        raise
    except Exception as error:
        result["reason"] = one_line(error)
    if "array with dim 3" in result["reason"]:  # scikit-learn's own check
        result["reason"] += f"; {FLATTEN}"
    result["seconds"] = time.perf_counter() - started
    if points and isinstance(target, Instance):
        result |= _against(target, result)
    return result


def check(
    learner: str,
    options: Mapping[str, Any] | None = None,
    heads: int | str | None = None,
    *,
    threads: int = 1,
    limit: float | None = None,
) -> list[Check]:
    """Check a learner on small data in a process of its own; return each outcome, and what to do where it failed.

    Arguments are as in `learn`. Raises `InputError` only if the class cannot be loaded or has no such option.
    """
    solver = Solver("learner", learner, dict(options or {}), heads, heads_known=HEADS)
    make(solver, 0) if options else solver.thing
    deadline = clock() + (FOREVER if limit is None else limit)
    try:
        with Worker(solver, 0, deadline, threads) as worker:
            return list(worker.examine())
    except TimeoutError:
        return [Check("fit", False, f"over {limit:g} s; give --limit more, or the learner less to do")]
    except TrialEnded as error:
        return [Check("fit", False, error.reason)]


def _read_by(solver: Solver, instance: Instance, seed: int) -> Callable[[int, int], Any]:
    """Return a function (start, count) -> examples: for some learners, only pairs that differ in coordinate 0."""
    rows = solver.built_in and getattr(solver.thing, "reads_informative", False)
    source = instance.informative if rows else instance.examples
    return lambda start, count: source(count, seed, start)


def _split(examples: Examples, family: Any, count: int | None) -> tuple[Labelled, Judged, int]:
    """Return a function from (start, n) to examples to learn from, a tenth held out to judge on, and `count`.

    The number of examples to learn from, `count`, is that of all others if None. If labels of the `family` have few
    values, the judge knows these. Raises `InputError` for too few examples.
    """
    available = len(examples) - -(-len(examples) // SHARE)
    count = available if count is None else count
    whole("count", count, 1, available, f"of {len(examples)} examples a tenth is held out")
    X, Y = examples.X[available:], examples.Y[available:]
    rows = informative(X)
    values = np.unique(Y[rows, :, 0] * X[rows, :, 0]) if family in STRUCTURED else None
    return lambda start, n: examples[start : start + n], Judged(X, Y, values), count


def _result(points: list[Evaluation], judged: Judged, streamed: bool, rule: Criterion) -> dict[str, Any]:
    """Return, from evaluations `points`, status by `rule`, scores on `judged` and, if `streamed`, curves of scores."""
    last, report = points[-1].scores, points[-1].report
    claimed = report.get("status")
    solved = rule.met(last) and claimed != "refused"
    # What a theorem promises is a success of its own kind.
    kept = claimed if claimed in ("refused", "budget", "certified") else "wrong"
    figures: dict[str, Any] = {
        "status": "solved" if solved else kept,
        "criterion": rule.name,
        "phases": report.get("phases", []),
        **last,
        "exact": exact(last),
    }
    # Of a learner with two verdicts, that of its theorem and that of the search after it, both stand beside the lab's.
    if report.get("certified") is not None:
        figures |= {name: report.get(name) for name in VERDICTS}
    if streamed:
        gated = judged.values is not None or judged.variance is not None
        curve, open_curve = (
            [(each.examples, each.scores[name]) for each in points] for name in ("explained", "open_error")
        )
        figures |= {"curve": curve, "open_curve": open_curve if gated else None}
        figures |= {"open_solved": OPEN.met(last) if gated else None, **points[-1].work}
    return figures


def _against(target: Instance, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the true layer tells of a `result`: if the learner certifies heads, how well these match true ones.

    For a learner by noisy gradients, it is how many informative examples such a learner provably needs (theory 2.10).
    """
    figures, concepts = dict[str, Any](), target.family.concepts()
    if "certified" in result:
        layer = getattr(result["model"], "layer_", None)
        match = recovery(layer, target.layer(), target.family.tokens) if layer is not None else None
        figures["heads"] = match and match | {"certified_radius": result["certified_radius"]}
    if isinstance(concepts, ParityConcepts) and "noise_of" in result:
        from hardness.sq.bounds.messages import proved_examples

        kappa = result["noise_of"]["kappa"]
        figures["proved_examples"] = proved_examples(concepts.size, kappa, flip=target.family.flip)
    return figures


def recovery(layer: MultiHeadAttention, true: MultiHeadAttention, tokens: int) -> dict[str, Any] | None:
    """Return how well a found layer's heads match the `true` ones; None if the layers have different shapes.

    `order` is the index of the found head for each true one, `worst` the largest relative error of a head's Θ or W, and
    `recovered` the number of heads with errors up to 1 %. Order is ignored, and at two tokens a head's sign too, since
    there (−Θ, −W) differs from (Θ, W) only by a head that attends uniformly.
    """
    from scipy.optimize import linear_sum_assignment

    if layer.theta.shape != true.theta.shape:
        return None

    def apart(sign: float) -> NDArray[np.float64]:
        """Return |sign·B_j − A_i|/|A_i| (m, m), Frobenius, for true heads A and found B: the larger of Θ's and W's."""
        errors = []
        for here, there in ((true.theta, layer.theta), (true.w, layer.w)):
            norms = np.linalg.norm(here, axis=(1, 2), keepdims=True)[:, 0]
            errors.append(
                np.linalg.norm(here[:, None] - sign * there, axis=(2, 3)) / np.where(norms, norms, 1.0)
            )
        return np.asarray(np.maximum(*errors))

    closest = np.minimum(apart(1.0), apart(-1.0 if tokens == 2 else 1.0))
    rows, order = linear_sum_assignment(closest)
    matched = closest[rows, order]
    recovered = int((matched <= RECOVERED).sum())
    return {"recovered": recovered, "worst": float(matched.max()), "order": order.tolist()}
