"""Check a certificate of the hardness lab: python check_certificate.py CERTIFICATE.json [STEPS]

Exit code 0: verified, the statement is printed; 1: it does not hold, the reason is printed; 2: this is no certificate,
or takes more than STEPS steps (20 million, a second). Standard library, exact rationals, nothing of the lab.
docs/certificates.md: the format, and why each step is a proof.
"""

import json
import os
import re
import sys
from fractions import Fraction
from functools import cache, reduce
from math import ceil, comb, floor

LARGEST = 2**22  # bytes of a file
STEPS = 20_000_000
steps_left = STEPS


class DoesNotHold(Exception):
    """A certificate whose statement does not follow from what it shows."""


def need(ok, reason, error=DoesNotHold):
    if not ok:  # not `assert`, which python -O leaves out
        raise error(reason)


def expect(ok, reason):
    need(ok, reason, ValueError)


def spend(steps):
    """Count work before it is done: a step is about 30 ns."""
    global steps_left
    steps_left -= steps
    expect(steps_left >= 0, "it takes more steps than allowed; a second argument allows more")


def fields(record, names):
    spend(400)
    expect(isinstance(record, dict) and set(record) == set(names.split()), f"expected the fields {names}")
    return [record[name] for name in names.split()]


def whole(number, low=0):
    expect(isinstance(number, int) and number >= low, f"expected an integer of at least {low}, not {str(number)[:40]}")
    return number


def rational(text, digits=400):
    spend(100)
    pattern = rf"-?[0-9]{{1,{digits}}}(\.[0-9]{{1,{min(digits, 99)}}}|/[0-9]{{1,{digits}}})?"
    good = isinstance(text, str) and re.fullmatch(pattern, text)
    expect(good, f"expected a rational such as '4/25' or '0.16', not {str(text)[:40]}")
    return Fraction(text)


def read_class(record):
    """Return words, n, which sizes sets have, N. Bit j of a set's mask says whether coordinate j is in it."""
    n, sizes = fields(record, "n sizes")
    expect(
        whole(n) <= 4096 and sizes == sorted(set(map(whole, sizes))) and sizes[-1] <= n, "sizes ascend in 0..n <= 4096"
    )
    spend(len(sizes) * n * (1 + n // 64))
    count = sum(comb(n, s) for s in sizes)
    return f"{count} parities of {' or '.join(map(str, sizes))} out of {n} bits", n, set(sizes), count


def read_query(record, n, tables):
    """Return a query's mean as a function of the hidden set; half of the inputs tell nothing: the 2 below it."""
    if "batch" in record:  # the sign of a sum of signed characters, counted on their span, at all inputs at once
        (batch,) = fields(record, "batch")
        good = len(batch) % 2 and all(0 < abs(whole(m, -(2**n))) < 2**n for m in batch)
        expect(good, "a batch is an odd number of signed sets")
        spend(len(batch) * n)
        basis = {}  # lead bit: a vector with it, and which members of the batch it is a sum of

        def code(mask, picked=0):
            for lead, (vector, members) in basis.items():
                if mask >> lead & 1:
                    mask, picked = mask ^ vector, picked ^ members
            return mask, picked

        codes = []
        for mask in batch:
            rest, picked = code(abs(mask))
            if rest:
                basis[rest.bit_length() - 1] = rest, picked ^ 1 << len(basis)
                rest, picked = code(abs(mask))
            codes.append(picked)
        rank, bits = len(basis), len(batch).bit_length()
        expect(rank <= 24, "the sets of a batch span at most 24 dimensions")
        spend(len(batch) * (rank + 3 * bits) * (1 + 2**rank // 2048))
        full = (1 << 2**rank) - 1  # bit x of a truth table is the parity of x & mask
        truth = lambda c: reduce(lambda t, j: t | (t ^ ((1 << 2**j) - 1) * (c >> j & 1)) << 2**j, range(rank), 0)
        counter = [full * ((2**bits - len(batch) // 2 - 1) >> i & 1) for i in range(bits + 1)]
        for mask, picked in zip(batch, codes):
            carry = truth(picked) ^ (full if mask < 0 else 0)
            for i in range(bits + 1):
                counter[i], carry = counter[i] ^ carry, counter[i] & carry

        def batch_mean(hidden):
            rest, picked = code(hidden)
            wrong = (counter[bits] ^ truth(picked)).bit_count()
            return Fraction(0) if rest else Fraction(1, 2) - Fraction(wrong, 2**rank)

        return batch_mean
    table, base, generators = fields(record, "table base generators")
    scale, values = fields(tables[whole(table)], "scale values")
    expect(len(generators) <= 16 and len(values) == 2 ** len(generators), "a table is 2^r values, r <= 16")
    spend(4 * len(values))
    need(whole(scale, 1) and all(isinstance(v, int) and -scale <= v <= scale for v in values), "a query leaves [-1, 1]")
    span = reduce(lambda members, g: members + [m ^ g for m in members], map(whole, generators), [whole(base)])
    place = {member: at for at, member in enumerate(span)}
    need(len(place) == len(span), "the generators of a table are not independent")

    def table_mean(hidden):
        spend(4 * len(values))
        at, terms = place.get(hidden), values
        for j in range(len(generators)):  # the sum of values times (-1)^(t & at), a bit of t at a time
            sign = -1 if at is not None and at >> j & 1 else 1
            terms = [x + sign * y for x, y in zip(terms[::2], terms[1::2])]
        return Fraction(0 if at is None else terms[0], 2 * scale * len(values))

    return table_mean


@cache
def theorem_b(k, tau):
    """Return the least number of queries that theorem B proves for any k parities."""
    need(tau < Fraction(1, 4), "from tolerance 1/4 no query separates two parities, so there is no number to state")
    eta = lambda c: 1 if c % 2 else {2: 2, 4: 4, 8: 4}.get(c & -c, 0)  # E(|Z| - c)^2 is at least that
    near = floor(1 / (2 * tau))  # a query that loses e of 2e or more has 8ce tau < 2e + c^2 - eta(c), for every c
    good = [c for c in range(max(1, near - 5), near + 6) if 4 * c * tau > 1]
    lost = min(ceil((c * c - eta(c)) / (8 * c * tau - 2)) for c in good) - 1
    asked = max(0, ceil(Fraction(k - 2 * lost - 1, lost)))  # while k >= 2 lost + 2 a query loses at most that many
    k -= asked * lost
    chains = lambda w: (w - k % w) * (q := k // w) * (q * q - 1) + k % w * q * (q + 1) * (q + 2)
    while k > 1:  # lemma L: the least w with room for the chains of k means
        low, high = 1, k
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if 4 * tau**2 * chains(middle) < 3 else (middle + 1, high)
        k, asked = low, asked + 1
    return asked


def check_transcript(tau, record):
    family, queries, concepts, tables, asked, answers = fields(record, "family queries concepts tables asked answers")
    words, n, sizes, _ = read_class(family)
    need(len(set(map(whole, concepts))) == 2, "these are not two concepts")
    need(all(c < 2**n and c.bit_count() in sizes for c in concepts), "a concept is not in the class")
    need(whole(queries) == len(asked) == len(answers), f"{queries} queries are stated, {len(asked)} are shown")
    for i, (query, answer) in enumerate(zip(asked, map(rational, answers)), 1):
        far = [mean for mean in map(read_query(query, n, tables), concepts) if abs(mean - answer) > tau]
        need(not far, f"answer {i}, {answer}, is more than {tau} away from the mean {far[:1]}")
    a, b = ([j for j in range(n) if hidden >> j & 1] for hidden in concepts)
    return f"these {queries} queries do not identify the hidden one of {words}: their answers allow {a} and {b}"


def check_bound(tau, record):
    family, concepts, queries, by = fields(record, "family concepts queries by")
    words, _, _, size = read_class(family)
    expect(by == "theorem B", "the only source of a bound is theorem B")
    proved = theorem_b(size, tau)
    need(whole(concepts) == size, f"the class has {size} concepts, not {concepts}")
    need(whole(queries) <= proved, f"{by} gives {proved} queries, not {queries}")
    return f"to identify the hidden one of {words} for sure takes at least {queries} queries in the worst case, by {by}"


def covered(order, later, closed):
    spend(20)
    return order in closed or (later and all(covered((*order, m), later - {m}, closed) for m in later))


def check_value(tau, record):
    family, value, tables, strategy, refutations = fields(record, "family value tables strategy refutations")
    (words, n, sizes, size), upper, lower = read_class(family), [], []
    expect(size <= 16 and n <= 12, "exact values are for at most 16 concepts of at most 12 bits")
    concepts = {mask for mask in range(2**n) if mask.bit_count() in sizes}

    def listed(live):
        expect(len(set(map(whole, live))) == len(live) <= 16, "a node is about at most 16 distinct sets")
        spend(20 * (len(upper) + len(lower) + 16))
        return live

    for live, height, query in (fields(node, "live height query") for node in strategy):
        mean = dict(zip(listed(live), map(read_query(query, n, tables), live)))
        for low in mean.values():
            spend(10 * (len(upper) + 16))
            kept = {hidden for hidden in live if low <= mean[hidden] <= low + 2 * tau}
            won = whole(height) > 0 and (len(kept) == 1 or any(kept <= other and h < height for other, h in upper))
            need(won, f"the query on {live} may leave {sorted(kept)}, too many for {height} queries")
        upper.append((set(live), height))
    won = size == 1 or any(concepts <= live and h <= value for live, h in upper)
    need(whole(value) >= 0 and won, f"no strategy is sure after {value}")
    hard = lambda some, h: theorem_b(len(some), tau) >= h or any(live <= some and g >= h for live, g in lower)
    for live, height, leaves in (fields(node, "live height leaves") for node in refutations):
        need(len(listed(live)) > 1 and set(live) <= concepts, "a refutation is about two or more concepts")
        spend(10 * 2**n * len(live))
        signs, closed = [{m: 1 - 2 * ((x & m).bit_count() & 1) for m in live} for x in range(2**n)], set()
        for order, pairs, weights in (fields(leaf, "order pairs weights") for leaf in leaves):
            expect(len(order) <= 16, "an order is of at most 16 sets")
            spend((len(pairs) + 1) * (8 * 2**n + 10 * (len(lower) + 16)))
            for a, b in pairs:  # between a and b lies a set that takes height - 1 more: b is over 2 tau above a
                before, since = order[: order.index(a)], order[order.index(a) :]
                kept = since[: since.index(b) + 1] if b in since else [*since, b]
                need(b not in before and hard(set(kept), whole(height) - 1), f"{kept} may be left in one window")
            gaps = [sum(w * (x[b] - x[a]) for w, (a, b) in zip(weights, pairs, strict=True)) for x in signs]
            need(min(weights) > 0 and sum(map(abs, gaps)) <= 4 * tau * 2**n * sum(weights), f"{pairs} may be apart")
            closed.add(tuple(order))
        need(covered((), set(live), closed), "some order of the means is not excluded")
        lower.append((set(live), height))
    need(hard(concepts, value), f"it is not shown that fewer than {value} queries are too few")
    return f"to identify the hidden one of {words} for sure takes exactly {value} queries in the worst case"


CHECKS = {"transcript": check_transcript, "bound": check_bound, "value": check_value}


def read(path):
    """Return the one JSON object of a file, of integers, texts, lists and objects, each field once."""
    expect(os.path.isfile(path), "it is not a file")
    with open(path, "rb") as file:
        text = file.read(LARGEST + 1)
    expect(len(text) <= LARGEST, f"it is larger than {LARGEST} bytes")

    def once(pairs):
        expect(len(dict(pairs)) == len(pairs), "a field stands there twice")
        return dict(pairs)

    def refuse(number):
        raise ValueError(f"numbers are integers, not {number[:40]}")

    record = json.loads(text.decode(), parse_float=refuse, parse_constant=refuse, object_pairs_hook=once)
    items = [record]
    for item in items:  # grows: booleans and null are no numbers
        expect(type(item) in (int, str, list, dict), f"{str(item).lower()} is not an integer, text, list or object")
        items.extend(item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
    return record


def verdict(path, steps=STEPS):
    """Return exit code and line, which is plain ASCII on one line whatever the file holds."""
    global steps_left
    steps_left = steps
    try:
        record = read(path)
        expect(
            isinstance(record, dict) and record.get("certificate") in CHECKS, f"its kind is none of {', '.join(CHECKS)}"
        )
        check, tau = CHECKS[record.pop("certificate")], rational(record.pop("tolerance"))
        need(tau > 0, "the tolerance is not positive")
        code, line = 0, f"Verified: at tolerance {tau}, {check(tau, record)}."
    except DoesNotHold as reason:
        code, line = 1, f"This does not hold: {str(reason)[:400]}."
    except Exception as error:  # whatever a file that is no certificate leads to
        line = str(error) if type(error) is ValueError else f"{type(error).__name__} {error}"
        code, line = 2, f"This is not a certificate: {line[:200]}."
    line = "".join(c if c.isprintable() else " " for c in line)
    return code, line.encode("ascii", "backslashreplace").decode()


def main(path, steps=str(STEPS)):
    code, line = 2, "STEPS is not a whole number of at most 18 digits."
    if re.fullmatch("[0-9]{1,18}", steps):
        code, line = verdict(path, int(steps))
    try:
        os.write(1, f"{line}\n".encode())  # unbuffered: what cannot be written is known here
    except OSError as error:
        code = 2
        if sys.stderr is not None:
            print(f"The verdict cannot be written: {error.strerror}.", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if 2 <= len(sys.argv) <= 3 else print(__doc__) or 2)
