"""The board: its budgets are said once, and a run goes on with them."""

from commands import run_command


def test_budgets_of_a_board_are_said_once(tmp_path):
    line = "board --suite easy --learner provable --learner mlp --family nondegenerate"
    run = run_command(f"{line} --examples 2000 --work 3e8 --workers 0 --out {tmp_path}/out")
    assert run.code == 0
    (other,) = run_command(f"{line} --examples 3000 --workers 0 --out {tmp_path}/out").err.splitlines()
    assert "holds examples 2000" in other
    assert "reference_seconds" not in (tmp_path / "out" / "rows.csv").read_text()
    assert (tmp_path / "out" / "timings.csv").read_text().startswith("identity,seconds,reference_seconds\n")
