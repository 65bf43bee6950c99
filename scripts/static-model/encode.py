"""Computes the vectors of a sentence model for a list of texts, in parts that survive a kill.

    python3 encode.py MODEL_FOLDER texts.json OUTPUT_PREFIX TOKENS_MAX

MODEL_FOLDER is what convert_minilm.py writes. Needs numpy, onnxruntime and tokenizers. Part N is
OUTPUT_PREFIX.N.npy; parts that exist are not computed again. One thread: waiting threads of the
runtime would burn the time of others.
"""
import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

PART = 1024
TOKENS_AT_ONCE = 4096


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    folder, source, prefix, tokens_max = sys.argv[1:]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(f"{folder}/model.onnx", options)
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.enable_truncation(int(tokens_max))
    tokenizer.no_padding()
    texts = json.loads(Path(source).read_text())
    for start in range(0, len(texts), PART):
        path = Path(f"{prefix}.{start // PART:04d}.npy")
        if path.exists():
            continue
        part = Path(f"{path}.part.npy")
        np.save(part, vectors_of(session, tokenizer, texts[start : start + PART]))
        part.rename(path)
        print(f"{min(start + PART, len(texts))} of {len(texts)}", flush=True)


def vectors_of(session, tokenizer, texts):
    """Unit vectors: the mean of the token vectors, as the model's authors pool them."""
    rows = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    # Texts of similar length share a run, so that little is padding.
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    vectors = np.zeros((len(rows), 384), np.float16)
    while order:
        # The longest of a run is its last, so the count is checked against it.
        count = 1
        while count < len(order) and (count + 1) * len(rows[order[count]]) <= TOKENS_AT_ONCE:
            count += 1
        some, order = order[:count], order[count:]
        length = max(len(rows[at]) for at in some)
        ids = np.zeros((count, length), np.int64)
        mask = np.zeros_like(ids)
        for place, at in enumerate(some):
            ids[place, : len(rows[at])] = rows[at]
            mask[place, : len(rows[at])] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = session.run(None, inputs)
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        vectors[some] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return vectors


main()
