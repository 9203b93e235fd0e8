"""CPU time as a currency: of this process, its children, of a solver here and in a worker; and its end at a limit."""

import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest

from hardness.errors import TrialEnded
from hardness.evaluation.limits import MULTIPLY_ADDS, Meter, Metered, alarm, kernel_seconds
from hardness.evaluation.solver import Solver
from hardness.evaluation.worker import opening

X = np.ones((64, 2, 4), dtype=np.int8)
SPIN = "import time\nwhile time.process_time() < {}: pass"


def spin(seconds: float) -> None:
    """Spend CPU time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_reference_second_is_a_thousand_million_multiply_adds_of_the_kernel() -> None:
    a = np.full((16, 16), 0.5)
    rates = []
    for _ in range(5):
        begin = time.process_time()
        for _ in range(2000):
            np.tanh(a @ a) @ a
        rates.append(MULTIPLY_ADDS * (time.process_time() - begin) / (2000 * 2 * 16**3))
    assert min(rates) / 4 < kernel_seconds() < 4 * max(rates)


def test_sleep_costs_nothing_and_children_that_ended_cost_what_they_spent() -> None:
    meter = Meter()
    with meter.running():
        time.sleep(0.3)
    assert meter.seconds < 0.1
    with meter.running():
        subprocess.run([sys.executable, "-c", SPIN.format(0.3)], check=True)
    assert 0.25 < meter.seconds < 3


def test_an_allowance_ends_what_runs_and_what_hides_from_its_alarm() -> None:
    meter = Meter(allowance=0.05)
    with pytest.raises(TrialEnded, match="CPU time") as ended, meter.running():
        spin(60)
    assert (ended.value.status, dict(ended.value.detail)) == ("budget", {"limit": "CPU time"})
    assert 0.05 <= meter.reference_seconds() < 5
    with pytest.raises(TrialEnded, match="CPU time"):
        stubborn(Meter(allowance=0.01))


def test_a_timer_that_rings_early_ends_nothing() -> None:
    def ring_and_spin() -> None:
        signal.raise_signal(signal.SIGPROF)
        spin(60)

    begin = time.process_time()
    with pytest.raises(TimeoutError), alarm(0.1, cpu=True):
        ring_and_spin()
    assert time.process_time() - begin >= 0.1


def stubborn(meter: Meter) -> None:
    """Take no notice of the alarm, and return as if nothing had been."""
    with meter.running(), suppress(TimeoutError):
        spin(60)


@pytest.mark.parametrize("name", ["trial_learners:Slow", "here"])
def test_a_solver_tells_its_reference_seconds_here_and_in_a_worker(name: str) -> None:
    from trial_learners import Slow

    solver = Solver(
        "learner", name if name != "here" else Slow(0.2), {"seconds": 0.2} if name != "here" else {}
    )
    metered = Metered(opening(solver, 0, 60.0))
    for fits in (1, 2):
        with metered() as opened:
            opened.partial_fit(X, X * 1.0)
            opened.predict(X)
            spent = opened.meter.seconds if name == "here" else None
        assert spent is None or spent >= 0.2
        assert fits * 0.1 < metered.reference_seconds < fits * 20
    assert metered.complete


def test_all_that_is_opened_shares_one_allowance_and_a_dead_process_tells_nothing() -> None:
    limited = Metered(opening(Solver("learner", "trial_learners:Slow", {"seconds": 0.3}), 0, 60.0), 1.0)
    with pytest.raises(TrialEnded, match="CPU time"):
        fits(limited, 40)
    assert limited.complete
    assert 1.0 <= limited.reference_seconds < 4
    dies = Metered(opening(Solver("learner", "trial_learners:Exits"), 0, 60.0))
    with pytest.raises(TrialEnded, match="code 3"):
        fits(dies, 1)
    assert not dies.complete


def fits(metered: Metered, count: int) -> None:
    """This many solvers, one after the other, each with a fit."""
    for _ in range(count):
        with metered() as opened:
            opened.partial_fit(X, X * 1.0)
