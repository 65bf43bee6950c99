"""Answers each line of JSON ({"html": ..., "recall": ...}) with one line: Markdown, title, time."""

import json
import sys
import time

import trafilatura

for line in sys.stdin:
    asked = json.loads(line)
    started = time.perf_counter()
    found = trafilatura.extract_with_metadata(
        asked["html"],
        output_format="markdown",
        favor_recall=asked["recall"],
        include_comments=False,
    )
    elapsed_ms = 1000 * (time.perf_counter() - started)
    text = (found.text if found else None) or ""
    if text.startswith("---\n"):  # the metadata come first, as YAML
        text = text.split("\n---\n", 1)[-1]
    title = (found.title if found else None) or ""
    print(json.dumps({"markdown": text, "title": title, "ms": elapsed_ms}), flush=True)
