"""Haystack, as its guide on indexing pipelines puts it together: `python haystack-peer.py FOLDER`."""

import os
import sys
from pathlib import Path

from haystack import Pipeline
from haystack.components.converters import HTMLToDocument, MarkdownToDocument
from haystack.components.embedders import OpenAIDocumentEmbedder
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentCleaner, DocumentSplitter
from haystack.components.routers import FileTypeRouter
from haystack.components.writers import DocumentWriter
from haystack.document_stores.types import DuplicatePolicy
from haystack.utils import Secret
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

folder = Path(sys.argv[1])
store = PgvectorDocumentStore(
    connection_string=Secret.from_env_var("DATABASE_URL"),
    table_name="chunks",
    embedding_dimension=1536,
)

pipeline = Pipeline()
pipeline.add_component("types", FileTypeRouter(mime_types=["text/html", "text/markdown"]))
pipeline.add_component("html", HTMLToDocument())
pipeline.add_component("markdown", MarkdownToDocument(progress_bar=False))
pipeline.add_component("together", DocumentJoiner())
pipeline.add_component("cleaner", DocumentCleaner())
pipeline.add_component("splitter", DocumentSplitter(split_by="word", split_length=200))
pipeline.add_component(
    "embedder",
    OpenAIDocumentEmbedder(model=os.environ["EMBEDDING_MODEL"], progress_bar=False),
)
pipeline.add_component("writer", DocumentWriter(store, policy=DuplicatePolicy.OVERWRITE))
pipeline.connect("types.text/html", "html.sources")
pipeline.connect("types.text/markdown", "markdown.sources")
pipeline.connect("html", "together")
pipeline.connect("markdown", "together")
pipeline.connect("together", "cleaner")
pipeline.connect("cleaner", "splitter")
pipeline.connect("splitter", "embedder")
pipeline.connect("embedder", "writer")

pipeline.run({"types": {"sources": sorted(folder.iterdir())}})
