"""The lab's side: a learner in a process apart as an object with `partial_fit` and `predict`; attacks, examinations."""

import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.apart.child import narrow, widen
from hardness.apart.server import THREADS as THREADS
from hardness.apart.server import Server
from hardness.apart.wire import receive, send
from hardness.errors import Ended, InputError
from hardness.io.texts import shown

SAID = ("wrong", "budget", "refused")  # what a learner may say of itself; solved is for the lab to say
HOUSE = ("hardness", "learner")
FOREVER = 30 * 24 * 3600.0  # seconds without a deadline
REPORT = 64 << 10
SAME = 1e-4  # of the largest prediction: what rounding may change where rows come in another order, in float32 too


def stranger(kind: str, name: str, params: Mapping[str, Any] | None = None) -> str:
    """The module of the first of the names that is not the house's own; empty if all are. Nothing is imported.

    A word of a study's own, such as "phases 1 to 6", is registered nowhere and names no module.

    >>> stranger("learner", "direct"), stranger("learner", "mine.own:Net"), stranger("learner", "phases 1 to 6")
    ('', 'mine.own', '')
    """
    params = params or {}
    named = [(kind, name), *((k, params[k]) for k in ("learner", "attack") if isinstance(params.get(k), str))]
    modules = [registry.module_of(k, each) for k, each in named if ":" in each or each in registry.points(k)]
    return next((module for module in modules if module.partition(".")[0] not in HOUSE), "")


class Apart:
    """A learner in a child process, as the lab sees it. A context: leaving it ends the child.

    `learner` is a registered name or ``package.module:Class``: `partial_fit(X, Y)`, or `fit(X, Y)`, `predict(X)` and,
    if it takes a seed, `random_state`. With `known` heads of an instance it is made as by `actors.make`, with
    `params` as options. `deadline` is a `time.monotonic()` beyond which a call kills the child and raises
    `TimeoutError`. Calls raise `Ended` where the learner raised (error, or what an `Ended` of its own says, but for
    solved), died (killed) or answered with no array of the shape asked for (refused).

    >>> import time
    >>> X, Y = np.ones((8, 2, 3), dtype=np.int8), np.ones((8, 2, 3))
    >>> with Apart("hardness.engine.apart:Constant", {}, 0, time.monotonic() + 60) as learner:
    ...     learner.partial_fit(X, Y)
    ...     learner.predict(X).shape
    (8, 2, 3)
    """

    def __init__(
        self,
        learner: str,
        params: Mapping[str, Any],
        seed: int,
        deadline: float,
        heads: int | str | None = None,
        known: int | None = None,
    ) -> None:
        guest = stranger("learner", learner, params)
        preload = [] if guest else [learner, str(params.get("learner", learner))]
        self._guest = bool(guest)
        self._line = _Line(guest, preload, deadline)
        arguments = {"learner": learner, "params": dict(params), "seed": seed, "heads": heads, "known": known}
        self._line.tell({"task": "learner", "arguments": arguments})
        hello = self._line.hear(0)[0]
        found = hello.get("source")
        self.source: str | None = found[:16] if isinstance(found, str) else None
        self.streamed = hello.get("streamed") is True

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> None:
        """Let it learn from tokens X and outputs Y, both (n, k, d). Does not wait: what it raises comes later."""
        columns, part = narrow(Y)
        self._line.tell({"do": "learn", "columns": columns}, X, part)

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Its predictions (n, k, d) for tokens X (n, k, d); a stranger is asked twice. Raises `Ended` (refused) if the
        answers are not the same: a prediction is a function of its own row, not of the place or number of the rows.
        """
        predicted = self._predict(X)
        if self._guest and not self._same(X, predicted):
            self._line.stop()
            raise Ended("refused", "its predictions depend on the order or the number of the rows it is asked about")
        return predicted

    def _predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        self._line.tell({"do": "predict"}, X)
        header, arrays = self._line.hear(8 * X.size)
        try:
            columns = header["columns"]
            if len(set(columns)) != len(columns) or not all(type(c) is int and 0 <= c < X.shape[2] for c in columns):
                raise ValueError("columns that X has not")
            if arrays[0].dtype != np.float64 or arrays[0].shape != (*X.shape[:2], len(columns)):
                raise ValueError("another shape")
            return widen(X.shape, columns, arrays[0])
        except (LookupError, ValueError, TypeError) as error:
            self._line.stop()
            got = shown(header.get("shape"), 60)
            raise Ended("refused", f"expected predictions of shape {X.shape}, got {got}") from error

    def _same(self, X: NDArray[np.int8], predicted: NDArray[np.float64]) -> bool:
        """Whether it answers the same in another order and in two parts."""
        order = np.random.default_rng(np.random.SeedSequence()).permutation(len(X))
        again = np.empty_like(predicted)
        for part in np.array_split(order, 2):
            if len(part):
                again[part] = self._predict(np.ascontiguousarray(X[part]))
        scale = float(np.abs(predicted).max(initial=1.0, where=np.isfinite(predicted)))
        return np.allclose(again, predicted, rtol=0, atol=SAME * scale, equal_nan=True)

    def report(self) -> dict[str, Any]:
        """What its `report_` says of it, a stranger's JSON."""
        self._line.tell({"do": "report"})
        found = self._line.hear(0)[0].get("report")
        return found if isinstance(found, dict) else {}

    def work(self) -> dict[str, Any]:
        """What the learner says of its own work, `work_`: names and figures; empty where it says nothing."""
        self._line.tell({"do": "work"})
        return _figures(self._line.hear(0)[0].get("work"))

    def __enter__(self) -> "Apart":
        return self

    def __exit__(self, *_: object) -> None:
        self._line.stop()


def call(task: str, name: str, arguments: Mapping[str, Any], *arrays: NDArray[Any], seconds: float = FOREVER) -> Any:
    """What a function of `actors` answers for strangers' code: "attack", "check", "online", "price".

    Raises `Ended` as `Apart` does, and an `InputError` of the child as one.
    """
    kind = str(arguments.get("kind", "attack" if task == "attack" else "learner"))
    line = _Line(stranger(kind, name), [], time.monotonic() + seconds)
    try:
        line.tell({"task": task, "arguments": {"name": name, **arguments}})
        line.tell({}, *arrays)
        return line.hear(0)[0].get("answer")
    except Ended as error:
        if error.kind == "InputError":
            raise InputError(error.reason.removeprefix("InputError: ")) from error
        raise
    finally:
        line.stop()


def _figures(said: Any) -> dict[str, Any]:
    """Of what a child says of its work, names with figures, short texts or lists of figures; no more than fifty."""
    figures = (bool, int, float, type(None))
    kept: dict[str, Any] = {}
    for key, value in list(said.items())[:50] if isinstance(said, dict) else ():
        if type(value) in figures:
            kept[shown(key, 60)] = value
        elif isinstance(value, str):
            kept[shown(key, 60)] = shown(value)
        elif isinstance(value, list) and len(value) <= 1000 and all(type(v) in figures for v in value):
            kept[shown(key, 60)] = value
    return kept


class _Line:
    """A socket to one child."""

    def __init__(self, guest: str, preload: list[str], deadline: float) -> None:
        self._server = Server.get(bool(guest))
        self._deadline, self._open = deadline, True
        self._socket, there = socket.socketpair()
        seconds = min(FOREVER, max(0.0, deadline - time.monotonic()))
        paths = [os.path.abspath(entry) for entry in dict.fromkeys([*sys.path, ""])]
        self._server.start({"guest": guest, "preload": preload, "paths": paths, "seconds": seconds}, there)

    def tell(self, header: Mapping[str, Any], *arrays: NDArray[Any]) -> None:
        """Send a message to the child."""
        with self._watched():
            try:
                send(self._socket, header, *arrays, deadline=self._deadline)
            except TimeoutError:
                raise
            except OSError:  # it has closed its end: it has ended, or is about to say why
                self._heard(receive(self._socket, self._deadline, 0)[0])
                raise

    def hear(self, most: int) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        """Its next message, of at most `most` bytes of arrays."""
        with self._watched():
            header, arrays = receive(self._socket, self._deadline, most)
        self._heard(header)
        return header, arrays

    def _heard(self, header: Mapping[str, Any]) -> None:
        if "raised" in header:
            said = header["raised"]
            self.stop()
            status, reason = said if isinstance(said, list) and len(said) == 2 else ("error", said)
            ended = Ended(status if status in SAID else "error", shown(reason), _figures(header.get("detail")))
            ended.kind = str(header.get("kind"))
            raise ended

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            self.stop()
            raise
        except (EOFError, OSError) as error:
            code = self.stop()
            raise Ended("killed", f"the learner's process ended with code {code}") from error
        except (LookupError, ValueError, TypeError, InputError) as error:
            self.stop()
            status = "error" if isinstance(error, InputError) else "refused"  # what is no JSON of finite numbers
            raise Ended(status, f"unreadable answer: {shown(error)}") from error

    def stop(self) -> int | None:
        """End the child and all that it started; its exit code, if it ended by itself."""
        if not self._open:
            return None
        self._open = False
        code = self._server.finish()
        self._socket.close()
        return code
