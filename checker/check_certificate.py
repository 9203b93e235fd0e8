"""Check a certificate of the hardness lab: python check_certificate.py CERTIFICATE.json

Exit code 0: verified, the statement is printed; 1: it does not hold, the reason is printed; 2: this is no certificate.
Standard library, exact rationals, nothing of the lab. docs/certificates.md: the format, and why each step is a proof.
"""

import json
import re
import sys
from bisect import bisect_left
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations
from math import ceil, comb, isqrt


def need(ok, reason, error=AssertionError):
    if not ok:  # not `assert`, which python -O leaves out
        raise error(reason)


def fields(record, names):
    need(isinstance(record, dict) and set(record) == set(names.split()), f"expected the fields {names}", ValueError)
    return [record[name] for name in names.split()]


def rational(text):
    good = re.fullmatch(r"-?[0-9]{1,400}(\.[0-9]{1,99}|/[0-9]{1,400})?", text)
    need(good, f"expected a rational such as 4/25 or 0.16, not {text[:40]}", ValueError)
    return Fraction(text)


def read_class(record):
    """Words, n, which sizes sets have, N. Bit j of a set's mask says whether coordinate j is in it."""
    n, sizes = fields(record, "n sizes")
    need(sizes == sorted(set(sizes)) and sizes[0] >= 0 and sizes[-1] <= n <= 4096, "sizes ascend in 0..n", ValueError)
    count = sum(comb(n, s) for s in sizes)
    return f"{count} parities of {' or '.join(map(str, sizes))} out of {n} bits", n, set(sizes), count


def read_query(record, n, tables):
    """The query's mean as a function of the hidden set; half of the inputs carry no information: the 2 below it."""
    if "batch" in record:  # the sign of a sum of signed characters, counted at all inputs at once
        (batch,) = fields(record, "batch")
        need(len(batch) % 2 and all(0 < abs(m) < 2**n <= 2**24 for m in batch), "a batch is odd, of sets of <= 24 bits")
        full, bits = (1 << 2**n) - 1, len(batch).bit_length()  # bit x of a truth table is the parity of x & mask
        truth = lambda mask: reduce(lambda t, j: t | (t ^ ((1 << 2**j) - 1) * (mask >> j & 1)) << 2**j, range(n), 0)
        counter = [full * ((2**bits - len(batch) // 2 - 1) >> i & 1) for i in range(bits + 1)]
        for mask in batch:
            carry = truth(abs(mask)) ^ (full if mask < 0 else 0)
            for i in range(bits + 1):
                counter[i], carry = counter[i] ^ carry, counter[i] & carry
        return lambda hidden: Fraction(1, 2) - Fraction((counter[bits] ^ truth(hidden)).bit_count(), 2**n)
    table, base, generators = fields(record, "table base generators")
    scale, values = fields(tables[table], "scale values")
    need(scale > 0 and all(-scale <= v <= scale for v in values), "a query leaves [-1, 1]")
    need(len(generators) <= 16 and len(values) == 2 ** len(generators), "a table is 2^r values, r <= 16", ValueError)
    span = reduce(lambda members, g: members + [m ^ g for m in members], generators, [base])
    code = {member: code for code, member in enumerate(span)}
    need(len(code) == len(span), "the generators of a table are not independent")
    total = lambda at: sum(v * (-1) ** ((t & at).bit_count() & 1) for t, v in enumerate(values))
    return lambda hidden: Fraction(total(code[hidden]) if hidden in code else 0, 2 * scale * len(values))


@cache
def worst_gap(e):
    """max E|sum of e plus and e minus characters|/(4e) over all sets of 2e parities: 0, e_1..e_r and a rest are all."""
    worst, sizes = 0, bytes(abs(2 * e - 2 * c) for c in range(2 * e + 1)).ljust(256)
    for r in range((2 * e - 1).bit_length(), 2 * e):
        tables = [bytes((x & p).bit_count() & 1 for x in range(2**r)) for p in range(2**r)]
        lanes, base = [int.from_bytes(table) for table in tables], int.from_bytes(bytes([e] * 2**r))
        for rest in combinations([p for p in range(2**r) if p.bit_count() > 1], 2 * e - 1 - r):
            columns = [sum(p >> i & 1 for p in rest) for i in range(r)]
            if columns == sorted(columns):  # the others are these with e_1..e_r in another order
                chosen = [lanes[p] for p in (*(1 << i for i in range(r)), *rest)]
                for minus in combinations(chosen, e):  # a byte counts the signed characters that are -1 at an input
                    odd = (sum(chosen) + base - 2 * sum(minus)).to_bytes(2**r)
                    worst = max(worst, Fraction(sum(odd.translate(sizes)), 4 * e * 2**r))
    return worst


@cache
def theorem_b(k, tau):
    """The least number of queries that theorem B proves for any k parities."""
    need(tau < Fraction(1, 4), "from tolerance 1/4 no query separates two parities, so there is no number to state")
    root = lambda x: (m := isqrt(x) // 2 * 2) + Fraction(x - m * m, 2 * m + 2)  # linear between even squares
    lost = bisect_left(range(1, ceil(1 / (8 * tau**2))), True, key=lambda e: root(2 * e) <= 4 * e * tau)
    while comb(2 * (e := min(5, lost)), e) <= tau * 2 ** (2 * e + 1) and worst_gap(e) <= tau:  # >= C(2e, e)/2^(2e+1)
        lost = e - 1
    asked = max(0, ceil(Fraction(k - 2 * lost - 1, lost)))  # while k >= 2 lost + 2 a query loses at most that many
    k -= asked * lost
    chains = lambda w: (w - k % w) * (q := k // w) * (q * q - 1) + k % w * q * (q + 1) * (q + 2)
    while k > 1:
        k, asked = 1 + bisect_left(range(1, k), True, key=lambda w: 4 * tau**2 * chains(w) < 3), asked + 1
    return asked


def read_spectrum(record, lam):
    """Words and N of a class of two-valued labels, once lam - Gram is found positive semidefinite off the constants."""
    if "labels" in record:  # +-1 at inputs of given weights
        weights, labels = fields(record, "weights labels")
        plain = all(len(row) == len(weights) and set(row) <= {1, -1} for row in labels) and min(weights) > 0
        need(plain and len(labels) <= 256, "labels are +-1, weights positive, concepts at most 256", ValueError)
        product = lambda f, g: Fraction(sum(w * x * y for w, x, y in zip(weights, f, g)), sum(weights))
        m = [[lam * (f is g) - product(f, g) for g in labels] for f in labels]
        m = [[x - row[-1] - y + m[-1][-1] for x, y in zip(row, m[-1])][:-1] for row in m[:-1]]  # basis e_i - e_N
        while m:  # LDL^T: pivots are not negative, and one that is 0 stands before an empty row
            (d, *row), *rest = m
            need(d > 0 or (d == 0 and not any(row)), f"{lam} - Gram is not positive semidefinite off the constants")
            m = [[x - r[0] * y / d for x, y in zip(r[1:], row)] if d else r[1:] for r in rest]
        return f"{len(labels)} listed label functions", len(labels)
    n, s, mean = fields(record, "n s mean")  # parities of bits of that mean: the Johnson scheme
    need(n <= 256, "biased bits are at most 256", ValueError)
    (words, _, _, size), mu, low = read_class({"n": n, "sizes": [s]}), rational(mean), min(s, n - s)
    term = lambda j, i, t: (-1) ** t * comb(j, t) * comb(s - j, i - t) * comb(n - s - j, i - t)
    relation = lambda j, i: mu ** (2 * i) * sum(term(j, i, t) for t in range(i + 1))
    top = max(sum(relation(j, i) for i in range(low + 1)) for j in range(1, low + 1))
    need(abs(mu) < 1 and top <= lam, f"the top eigenvalue is {top}, not at most {lam}")
    return f"{words} of mean {mean}", size


def check_transcript(tau, family, queries, concepts, tables, asked, answers):
    words, n, sizes, _ = read_class(family)
    need(len(set(concepts)) == 2, "these are not two concepts")
    need(all(0 <= c < 2**n and c.bit_count() in sizes for c in concepts), "a concept is not in the class")
    need(queries == len(asked) == len(answers), f"{queries} queries are stated, {len(asked)} are shown")
    for i, (query, answer) in enumerate(zip(asked, map(rational, answers)), 1):
        far = [mean for mean in map(read_query(query, n, tables), concepts) if abs(mean - answer) > tau]
        need(not far, f"answer {i}, {answer}, is more than {tau} away from the mean {far[:1]}")
    one, two = ([j for j in range(n) if hidden >> j & 1] for hidden in concepts)
    return f"these {queries} queries do not identify the hidden one of {words}: their answers allow {one} and {two}"


def check_bound(tau, family, concepts, queries, by):
    if by == "theorem B":
        words, _, _, size = read_class(family)
        least = theorem_b(size, tau)
    else:
        words, size = read_spectrum(family, rational(by))
        lost, by = ceil(rational(by) / (8 * tau**2)) - 1, f"lemma L with eigenvalues up to {by}"
        need(lost > 0, "no query separates two concepts, so there is no number to state")
        least = ceil(Fraction(size - 1, lost))
    need(concepts == size, f"the class has {size} concepts, not {concepts}")
    need(queries <= least, f"{by} gives {least} queries, not {queries}")
    return f"to identify the hidden one of {words} for sure takes at least {queries} queries in the worst case, by {by}"


def covered(order, later, closed):
    return order in closed or (later and all(covered((*order, m), later - {m}, closed) for m in later))


def check_value(tau, family, value, tables, strategy, refutations):
    (words, n, sizes, size), upper, lower = read_class(family), [], []
    need(size <= 16 and n <= 12, "exact values are for at most 16 concepts of at most 12 bits", ValueError)
    concepts = {mask for mask in range(2**n) if mask.bit_count() in sizes}
    for live, height, query in (fields(node, "live height query") for node in strategy):
        mean = dict(zip(live, map(read_query(query, n, tables), live)))
        for low in mean.values():
            kept = {hidden for hidden in live if low <= mean[hidden] <= low + 2 * tau}
            won = height > 0 and (len(kept) == 1 or any(kept <= other and h < height for other, h in upper))
            need(won, f"the query on {live} may leave {sorted(kept)}, too many for {height} queries")
        upper.append((set(live), height))
    need(size == 1 or any(concepts <= live and h <= value for live, h in upper), f"no strategy is sure after {value}")
    hard = lambda some, h: theorem_b(len(some), tau) >= h or any(live <= some and g >= h for live, g in lower)
    for live, height, leaves in (fields(node, "live height leaves") for node in refutations):
        need(len(set(live)) > 1 and set(live) <= concepts, "a refutation is about two or more concepts")
        signs, closed = [{m: 1 - 2 * ((x & m).bit_count() & 1) for m in live} for x in range(2**n)], set()
        for order, pairs, weights in (fields(leaf, "order pairs weights") for leaf in leaves):
            for a, b in pairs:  # between a and b lies a set that takes height - 1 more: b is over 2 tau above a
                before, since = order[: order.index(a)], order[order.index(a) :]
                kept = since[: since.index(b) + 1] if b in since else [*since, b]
                need(b not in before and hard(set(kept), height - 1), f"{kept} may be left in one window")
            gaps = [sum(w * (x[b] - x[a]) for w, (a, b) in zip(weights, pairs, strict=True)) for x in signs]
            need(min(weights) > 0 and sum(map(abs, gaps)) <= 4 * tau * 2**n * sum(weights), f"{pairs} may be apart")
            closed.add(tuple(order))
        need(covered((), set(live), closed), "some order of the means is not excluded")
        lower.append((set(live), height))
    need(hard(concepts, value), f"it is not shown that fewer than {value} queries are too few")
    return f"to identify the hidden one of {words} for sure takes exactly {value} queries in the worst case"


def main(path):
    try:
        with open(path, "rb") as file:
            record = json.loads(file.read(2**26), parse_float=int, parse_constant=int)
        check = {"transcript": check_transcript, "bound": check_bound, "value": check_value}[record.pop("certificate")]
        need((tau := rational(record.pop("tolerance"))) > 0, "the tolerance is not positive")
        print(f"Verified: at tolerance {tau}, {check(tau, **record)}.")
    except AssertionError as reason:
        print(f"This does not hold: {reason}.")
        return 1
    except Exception as error:  # whatever a file that is no certificate leads to
        print(f"This is not a certificate: {type(error).__name__} {' '.join(str(error).split())[:200]}.")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 2 else print(__doc__) or 2)
