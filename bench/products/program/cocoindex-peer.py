"""CocoIndex, after its text embedding example: `cocoindex update cocoindex-peer.py`."""

from __future__ import annotations

import io
import os
import pathlib
from dataclasses import dataclass
from typing import Annotated, AsyncIterator

import asyncpg
import cocoindex as coco
from cocoindex.connectors import localfs, postgres
from cocoindex.ops.litellm import LiteLLMEmbedder
from cocoindex.ops.text import RecursiveSplitter
from cocoindex.resources.chunk import Chunk
from cocoindex.resources.file import FileLike, PatternFilePathMatcher
from cocoindex.resources.id import IdGenerator
from markitdown import MarkItDown
from numpy.typing import NDArray

DATABASE = coco.ContextKey[asyncpg.Pool]("database")
EMBEDDER = coco.ContextKey[LiteLLMEmbedder]("embedder", detect_change=True)

splitter = RecursiveSplitter()
converter = MarkItDown()


@coco.lifespan
async def lifespan(builder: coco.EnvironmentBuilder) -> AsyncIterator[None]:
    async with asyncpg.create_pool(os.environ["DATABASE_URL"]) as pool:
        builder.provide(DATABASE, pool)
        builder.provide(EMBEDDER, LiteLLMEmbedder(os.environ["EMBEDDING_MODEL"]))
        yield


@dataclass
class Row:
    id: int
    source: str
    text: str
    embedding: Annotated[NDArray, EMBEDDER]


@coco.fn
async def process_chunk(
    chunk: Chunk,
    source: pathlib.PurePath,
    ids: IdGenerator,
    table: postgres.TableTarget[Row],
) -> None:
    table.declare_row(
        row=Row(
            id=await ids.next_id(chunk.text),
            source=str(source),
            text=chunk.text,
            embedding=await coco.use_context(EMBEDDER).embed(chunk.text),
        ),
    )


def to_markdown(page: bytes) -> str:
    return converter.convert_stream(io.BytesIO(page), file_extension=".html").text_content


@coco.fn(memo=True)
async def process_file(file: FileLike, table: postgres.TableTarget[Row]) -> None:
    path = file.file_path.path
    is_html = path.suffix == ".html"
    text = to_markdown(await file.read()) if is_html else await file.read_text()
    chunks = splitter.split(text, chunk_size=2000, chunk_overlap=0, language="markdown")
    await coco.map(process_chunk, chunks, path, IdGenerator(), table)


@coco.fn
async def main(folder: pathlib.Path) -> None:
    table = await postgres.mount_table_target(
        DATABASE,
        table_name="chunks",
        table_schema=await postgres.TableSchema.from_class(Row, primary_key=["id"]),
    )
    files = localfs.walk_dir(
        folder,
        recursive=True,
        path_matcher=PatternFilePathMatcher(included_patterns=["**/*.html", "**/*.md"]),
    )
    await coco.mount_each(process_file, files.items(), table)


app = coco.App(coco.AppConfig(name="Peer"), main, folder=pathlib.Path(os.environ["FOLDER"]))
