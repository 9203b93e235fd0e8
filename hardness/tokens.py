"""Uniform tokens on {±1}^{k×d} and uniform numbers, addressed by index: the same bytes whatever the chunk or worker."""

import sys
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError

Words = NDArray[np.uint64]
Signs = NDArray[np.int8]
DIGITS = 32  # binary digits of a bias
CHUNK = 1 << 16  # examples a chunk: a few tens of MB at d = 64


def words_per_token(dim: int) -> int:
    """Return the number of 64-bit words that hold one token of `dim` signs."""
    return -(-dim // 64)


@dataclass(frozen=True)
class TokenStream:
    """An endless stream of uniform examples, `tokens` tokens of `dim` signs each; example i depends on (seed, i) alone.

    The generator Philox is counter-based, so any part of the stream is made without what precedes it. With a `bias` μ >
    0 the products x1_j x2_j of two tokens have mean μ for j >= 1 (to 2^-32; theory 2.9) and 0 for j = 0: if the tokens
    of the unbiased stream differ in j, they still do with probability 1 - μ.
    """

    seed: int
    tokens: int
    dim: int
    bias: float = 0.0

    def packed(self, start: int, count: int) -> Words:
        """Return `count` examples from `start` on, as uint64 (count, tokens, words) with bit j set iff x_j = -1."""
        words = words_per_token(self.dim)
        mask = 2 ** (self.dim % 64 or 64) - 1
        raw = _raw(
            philox_key(self.seed, 0), start * self.tokens * words, count * self.tokens * words, words, mask
        )
        raw = raw.reshape(count, self.tokens, words)
        if self.bias:
            raw[:, 1] = raw[:, 0] ^ ((raw[:, 0] ^ raw[:, 1]) & self._kept(start, count, words))
        return raw

    def _kept(self, start: int, count: int, words: int) -> Words:
        """Return bits (count, words) that are 0 where two tokens are made to agree: with chance `bias`, never bit 0."""
        share = round((1 - self.bias) * 2**DIGITS)
        trailing_zeros = (share & -share).bit_length() - 1 if share else DIGITS
        digits = [share >> i & 1 for i in range(trailing_zeros, DIGITS)]  # from the last one that is not 0
        fair = _raw(philox_key(self.seed, 2), start * words * len(digits), count * words * len(digits))
        fair = fair.reshape(count, words, len(digits))
        kept = np.zeros((count, words), np.uint64)
        for i, digit in enumerate(digits):
            kept = fair[:, :, i] | kept if digit else fair[:, :, i] & kept
        kept[:, 0] |= np.uint64(1)
        return kept


def uniform(key: Words, start: int, count: int) -> NDArray[np.float64]:
    """Return numbers start..start + count - 1 of the endless stream of a Philox key (2,), uniform in (0, 1)."""
    return ((_raw(key, start, count) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def gaussian(seed: int, start: int, shape: tuple[int, int, int]) -> NDArray[np.float64]:
    """Return n examples from `start` of the endless stream of normal tokens of `seed`, of `shape` (n, k, d)."""
    from scipy.special import ndtri

    count, each = shape[0], shape[1] * shape[2]
    numbers = uniform(philox_key(seed, 3), start * each, count * each)
    return np.asarray(ndtri(numbers).reshape(shape), dtype=np.float64)


def _raw(key: Words, start: int, count: int, period: int = 1, mask: int = 2**64 - 1) -> Words:
    """Return words start..start + count - 1 of a Philox key's stream, the last of every `period` ANDed with `mask`."""
    if count >= 2**60:  # more than numpy can even ask for
        raise MemoryError(f"{count} random words")
    skip = start % 4  # a step of the counter yields four words
    last = (period - 1 - (start - skip)) % period
    if compiled_pays(count):
        from hardness.kernels.bits import philox

        out = np.empty(-(-(skip + count) // 4) * 4, np.uint64)
        philox(key, np.uint64(start // 4 + 1), out, last, period, np.uint64(mask))
    else:
        generator = np.random.Philox(key=key)
        generator.advance(start // 4)
        out = generator.random_raw(skip + count)
        out[last::period] &= np.uint64(mask)
    return out[skip : skip + count]


def compiled_pays(words: int) -> bool:
    """Say whether compiled loops over `words` words save time: if numba is loaded, or for more than 2^25 words."""
    return "numba" in sys.modules or words > 1 << 25


@lru_cache
def philox_key(seed: int, *path: int) -> Words:
    """Return the Philox key (2,) of numpy's `SeedSequence(seed, spawn_key=path)`."""
    key: Words = np.random.Philox(np.random.SeedSequence(seed, spawn_key=path)).state["state"]["key"]
    return key


def pack_bits(bits: ArrayLike) -> Words:
    """Return rows (…, n) of 0 and 1 as words (…, ceil(n/64)) uint64: bit j % 64 of word j // 64 is entry j.

    >>> pack_bits([[1, 0, 1]]), unpack_bits(pack_bits([1, 0, 1]), 3)
    (array([[5]], dtype=uint64), array([1, 0, 1], dtype=uint8))
    """
    x = np.asarray(bits)
    padded = np.zeros((*x.shape[:-1], 64 * words_per_token(x.shape[-1])), dtype=bool)
    padded[..., : x.shape[-1]] = x
    return np.packbits(padded, axis=-1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack_bits(words: Words, n: int) -> NDArray[np.uint8]:
    """Return the rows (…, n) uint8 of 0 and 1 that `pack_bits` made into words (…, ceil(n/64))."""
    data = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
    return np.unpackbits(data, axis=-1, count=n, bitorder="little")


def unpack(words: Words, dim: int) -> Signs:
    """Return packed tokens (…, words) as signs (…, dim) int8: -1 where a bit is set, else 1.

    >>> unpack(np.array([[0b10]], dtype=np.uint64), 3)
    array([[ 1, -1,  1]], dtype=int8)
    """
    if dim % 8 == 0 and compiled_pays(words.size):
        from hardness.kernels.bits import signs as fill

        # The bytes that hold signs, and eight signs of a byte as one word: both little-endian.
        octets = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)[..., : dim // 8]
        out = np.empty((*words.shape[:-1], dim), dtype=np.int8)
        fill(octets.ravel(), out.reshape(-1).view("<u8"))
        return out
    signs = unpack_bits(words, dim).view(np.int8)  # bits here, which become 1 - 2 bits
    np.multiply(signs, -2, out=signs)
    signs += 1
    return signs


def pack(X: ArrayLike) -> Words:
    """Return signs (…, dim) as packed tokens (…, words): bit set iff -1. Raises `InputError` for entries not ±1."""
    x = np.asarray(X)
    if x.ndim < 1 or not (np.abs(x) == 1).all():
        raise InputError("tokens must be +1 or -1 in every coordinate")
    return pack_bits(x < 0)


def gated(words: Words, value: NDArray[np.float64], closed: float) -> NDArray[np.float64]:
    """Return column 0 (n, 2) of a layer's output on packed token pairs (n, 2, words).
    Entry a is token a's sign in coordinate 0, times `value` (n,) if the two tokens differ there, else times `closed`.
    """
    if compiled_pays(words.size):
        from hardness.kernels.bits import gate

        column = np.empty((len(words), 2))
        gate(words, value, closed, column)
        return column
    negative = (words[:, :, 0] & np.uint64(1)).astype(bool)
    kept = np.where(negative[:, 0] ^ negative[:, 1], value, closed)[:, None]
    return np.where(negative, -kept, kept)
