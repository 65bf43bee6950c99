"""Fits a table of word vectors to a sentence model and writes it as PAWLWORD.

    python3 fit_table.py words.json WORD_PREFIX passages.json PASSAGE_PREFIX OUTPUT.bin

words.json lists words, most frequent first; the prefixes are those of encode.py. Words without a
vector at the end of the list get none. Needs numpy and scipy. The vector of a text is the mean of
its words, weighted towards rare ones. The words start at the model's vectors for each word alone
and move, by ridge regression, to where the means match the model's vectors of the passages. Main
directions of the passages become the dimensions. The layout is described in
src/provider/embedding/word-vectors.ts.
"""
import glob
import json
import re
import struct
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sparse

DIMENSIONS = 192
# A word of this frequency has half the weight of a rare one.
HALF_WEIGHT_SHARE = 1e-3
# How strongly words stay where they start.
RIDGE = 0.1
ROUNDS = 20
WORD = re.compile(r"[^\W_]+")
MASK = 0xFFFFFFFF


def vectors(prefix):
    parts = sorted(glob.glob(f"{prefix}.[0-9]*.npy"))
    return np.concatenate([np.load(part) for part in parts]).astype(np.float32)


def counts(texts, places):
    rows, columns = [], []
    for row, text in enumerate(texts):
        for word in WORD.findall(text.lower()):
            if word in places:
                rows.append(row)
                columns.append(places[word])
    ones = np.ones(len(rows), np.float32)
    return sparse.csr_matrix((ones, (rows, columns)), shape=(len(texts), len(places)))


def solve(means, target):
    """Conjugate gradients for all columns: (M'M + ridge) X = target."""
    found = np.zeros_like(target)
    rest = target.copy()
    direction = rest.copy()
    size = (rest * rest).sum(0)
    for _ in range(ROUNDS):
        image = means.T @ (means @ direction) + RIDGE * direction
        length = size / np.maximum((direction * image).sum(0), 1e-12)
        found += length * direction
        rest -= length * image
        next_size = (rest * rest).sum(0)
        direction = rest + next_size / np.maximum(size, 1e-12) * direction
        size = next_size
    return found


def fit(words, word_vectors, passages, passage_vectors):
    share = 1 / ((np.arange(1, len(words) + 1) + 2.7) * 12.5)
    weight = (HALF_WEIGHT_SHARE / (HALF_WEIGHT_SHARE + share)).astype(np.float32)
    known = len(word_vectors)
    usual = share[:known] * weight[:known]
    start = np.zeros((len(words), word_vectors.shape[1]), np.float32)
    start[:known] = word_vectors - usual @ word_vectors / usual.sum()
    weighted = counts(passages, {word: at for at, word in enumerate(words)})
    weighted = weighted @ sparse.diags(weight)
    total = np.maximum(np.asarray(weighted.sum(1)).ravel(), 1e-6)
    means = sparse.diags((1 / total).astype(np.float32)) @ weighted
    target = passage_vectors - passage_vectors.mean(0)
    image = means @ start
    start *= (image * target).sum() / (image * image).sum()
    moved = start + solve(means, means.T @ (target - means @ start))
    fitted = moved * weight[:, None]
    image = means @ moved
    image /= np.maximum(np.linalg.norm(image, axis=1, keepdims=True), 1e-9)
    _, directions = np.linalg.eigh(image.T @ image)
    return fitted @ directions[:, ::-1][:, :DIMENSIONS]


def hash_of(word, seed):
    mixed = seed
    units = word.encode("utf-16-le")
    for at in range(0, len(units), 2):
        mixed = ((mixed ^ (units[at] | units[at + 1] << 8)) * 0x01000193) & MASK
    mixed ^= mixed >> 16
    mixed = (mixed * 0x7FEB352D) & MASK
    return mixed ^ (mixed >> 15)


def table_of(words, fitted):
    step = np.maximum(np.abs(fitted).max(1), 1e-12) / 127
    components = np.round(fitted / step[:, None]).astype(np.int8)
    prints = [hash_of(word, seed) for word in words for seed in (0x811C9DC5, 0x2545F491)]
    return b"".join(
        [
            b"PAWLWORD",
            struct.pack("<IIII", 1, len(words), fitted.shape[1], 0),
            np.array(prints, "<u4").tobytes(),
            step.astype("<f4").tobytes(),
            components.tobytes(),
        ]
    )


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    words = json.loads(Path(sys.argv[1]).read_text())
    word_vectors = vectors(sys.argv[2])
    passage_vectors = vectors(sys.argv[4])
    passages = json.loads(Path(sys.argv[3]).read_text())[: len(passage_vectors)]
    table = table_of(words, fit(words, word_vectors, passages, passage_vectors))
    Path(sys.argv[5]).write_bytes(table)
    print(f"{sys.argv[5]}: {len(table)} bytes")


main()
