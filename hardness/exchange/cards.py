"""Examples and challenges as folders that Hugging Face `datasets` loads: Parquet and a data card, no library needed."""

import json
import shutil
from pathlib import Path

from hardness.challenge import LICENCE
from hardness.errors import InputError
from hardness.examples import read, write
from hardness.io.files import regular, write_text

DATA, CARD, CHALLENGE = "data/train.parquet", "README.md", ("challenge.json", "heldout.npz")
TEXT = """---
license: {licence}
pretty_name: {name}
tags: [attention, hardness-of-learning, synthetic]
configs:
- config_name: default
  data_files: {data}
---
# {name}

{count} examples of a multi-head attention layer of the family `{family}`, drawn by attention-hardness {version}. The
layer is hidden; nothing here but the labels depends on it.

Each row holds `X`, signs, and `Y`, real numbers, both of shape ({k}, {d}): {k} tokens of {d} features. In this folder:

```python
import numpy as np
from datasets import load_dataset

rows = load_dataset("parquet", data_files="{data}", split="train")
rows = rows.with_format("numpy", dtype=np.float64)  # its own default would round Y to 32 bits
X, Y = rows[:]["X"].astype(np.int8), rows[:]["Y"]  # ({count}, {k}, {d}) each
```
{shape}
Public parameters:

```json
{public}
```
{challenge}"""
STRUCTURED = """
A row is informative where the two tokens differ in coordinate 0, the gate; there row a of Y holds x_a[0] (A + g) in
column 0, with g the hidden function and A = {A:.12g}; elsewhere it holds x_a[0] C, with C = {C:.12g}.
"""
ASKED = """
This is a challenge: `challenge.json` holds a commitment to the secret and says what an answer is, `heldout.npz` inputs
without labels. `hardness judge` tells a right answer from a wrong one on the challenge's own folder.
"""


def dataset(source: str | Path, out: str | Path) -> Path:
    """Write the examples in a file of `hardness sample`, or a challenge's folder, to the new folder `out`.

    It holds Parquet, a data card, and of a challenge its public files. Returns the path of the card. Raises
    `InputError` for what is neither, and for a folder that is there.
    """
    source, out = Path(source), Path(out)
    if out.exists():
        raise InputError(f"cannot write {out}: it exists; name another --out")
    challenge = source.is_dir()
    examples, public = read(source / "examples.npz" if challenge else source)
    n, k, d = examples.X.shape
    write(out / DATA, (n, k, d), lambda: iter([examples]), public)
    for name in CHALLENGE if challenge else ():
        shutil.copyfile(regular(source / name), out / name)
    text = TEXT.format(
        licence=LICENCE.lower(), name=f"{public['family']} of {public.get('heads')} heads, d = {d}", data=DATA,
        count=n, family=public["family"], version=public.get("package_version", ""), k=k, d=d,
        public=json.dumps(public, indent=1, sort_keys=True), challenge=ASKED if challenge else "",
        shape=STRUCTURED.format(**public) if "A" in public else "",
    )  # fmt: skip
    write_text(out / CARD, text)
    return out / CARD
