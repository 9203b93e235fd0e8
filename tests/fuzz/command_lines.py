"""Random command lines: every command with its options, and values that nobody should type."""

from pathlib import Path

from damage import Draw, pick
from file_formats import FAMILIES, made
from hypothesis import strategies as st

SMALL = ("0", "1", "2", "3", "4", "5", "6", "8", "9", "0.1", "0.3", "0.5", "-1", "1.5")
HOSTILE = (
    "5e-324", "1e30", "1e308", "nan", "inf", "-inf", "9" * 30, "9" * 5000, "-" + "9" * 30, "", " ", "x" * 5000,
    "a/" * 3000, "../" * 50 + "nowhere", "\udcff", "é\udc80", "😀", "--", "-", "=", "None", "0x10", "1_0", "١",
    "\x1b[31m",
    "\n", "{}", "[1]", "a:b", "os:system", "builtins:exec", "hardness:Parity", "1/0", "4294967296",
    "9223372036854775808",
    "1e-5", "2147483648", ".", "/", "/dev/null", "/proc/self/mem", "~", "*", "$(id)", "@x", "a\\b",
)  # fmt: skip
NAMES = ("parity", "rounding", "nondegenerate", "interpolation", "gaussian", "lattice", "search", "bkw", "sgd",
         "direct", "linear-attention", "games", "needs")  # fmt: skip
OUTS = ("out", "out.npz", "out.parquet", "out.csv", "a/b/out", "/dev/full", "/dev/null", "/proc/out", ".", "", "out/",
        "x" * 300, "a/" * 2100 + "o", "\udcff", "f", "f/x", "out\n")  # fmt: skip

# Commands, with the options that belong to them; what a space follows takes a value.
PARITY, ROUNDING = "--dim --heads --gadget --sharpness --flip", "--dim --modulus --levels --weight --heads --noise"
COMMANDS = {
    "families": "", "learners": "", "attacks": "", "strategies": "", "study list": "", "cite": "", "--version": "",
    "generate parity": f"{PARITY} --seed --out", "generate rounding": f"{ROUNDING} --gadget --seed --out",
    "generate nondegenerate": "--dim --tokens --heads --scale --seed --out",
    "generate interpolation": "--dim --heads --rho --scale --seed --out", "generate": "--dim --out",
    "inspect f": "", "verify f": "", "export f": "--out", "sample f": "--count --seed --out",
    "challenge f": "--count --out", "judge": "", "attack gaussian": "--budget --seed", "attack": "--budget",
    "estimate f": "--tolerance", "estimate parity": f"{PARITY} --tolerance",
    "estimate rounding": f"{ROUNDING} --tolerance",
    "sq bounds parity": "--dim --heads --tolerance --gadget", "sq value": "--independent --tolerance",
    "sq bounds rounding": "--dim --modulus --levels --tolerance --heads --gadget",
    "sq value parity": "--dim --heads --tolerance --gadget",
    "sq play parity": "--dim --heads --tolerance --strategy --oracle --seed --max-queries --samples --flip",
    "sq play rounding": "--dim --modulus --levels --tolerance --strategy --oracle --max-queries --heads",
    "sq certify parity": "--dim --heads --tolerance --kind --out --max-queries",
    "study run games --dry-run": "--seed --workers --shard --strategy", "study run --dry-run": "--seed --shard",
    "study status": "", "study report": "", "study export": "--out", "study merge": "--out",
    "learn": "--count --test --seed --heads", "learn f": "--count --seed", "sweep": "--out --workers",
    "nonsense": "--x",
}  # fmt: skip
SENSIBLE = {
    "--strategy": ("characters", "random", "low-degree", "sign-batch", "bent", "flat", "adaptive"),
    "--oracle": ("window", "null", "sampled", "noisy", "exact"),
    "--gadget": ("diag", "dot"), "--kind": ("transcript", "bound", "value"), "--tolerance": ("0.1", "0.2", "0.3"),
    "--samples": ("50",), "--max-queries": ("50",), "--seed": ("0", "1"),
    "--learner": ("hardness.evaluation.adapters:Constant",),
    "--modulus": ("3", "5"), "--levels": ("2", "3"), "--dim": ("4", "5", "6"), "--heads": ("2", "3"), "--out": OUTS,
    "--flip": ("0", "0.1"), "--sharpness": ("8",), "--shard": ("1/2",), "--workers": ("0", "1"),
}  # fmt: skip


def line(draw: Draw, folder: Path) -> list[str]:
    """One command line; files that it may name lie in `folder`."""
    (folder / "f").write_bytes(pick(draw, [made(i).to_bytes() for i in range(len(FAMILIES))]))
    command = pick(draw, sorted(COMMANDS))
    words, strange = command.split(), draw(st.integers(0, 4)) > 0
    for option in COMMANDS[command].split():
        if draw(st.integers(0, 9)) == 0:
            continue
        value = pick(draw, SENSIBLE.get(option, SMALL))
        if strange and draw(st.integers(0, 2)) == 0:
            value = pick(draw, OUTS if option == "--out" else HOSTILE + SMALL)
        words += [option, value]
    if draw(st.integers(0, 2)) == 0:
        word = pick(draw, (*HOSTILE, *NAMES, "f", "--json", "--help", "--seed"))
        words.insert(draw(st.integers(0, len(words))), word)
    return [*words, "--json"] if draw(st.integers(0, 4)) == 0 else words
