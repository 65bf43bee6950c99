"""A folder that CocoIndex follows, into a copy: `cocoindex update cocoindex-folder.py`."""

from __future__ import annotations

import os
import pathlib

import cocoindex as coco
from cocoindex.connectors import localfs
from cocoindex.resources.file import FileLike


@coco.fn(memo=True)
async def process_file(file: FileLike, folder: pathlib.Path, copy: pathlib.Path) -> None:
    path = copy / pathlib.Path(file.file_path.path).relative_to(folder)
    localfs.declare_file(path, await file.read(), create_parent_dirs=True)


@coco.fn
async def main(folder: pathlib.Path, copy: pathlib.Path) -> None:
    files = localfs.walk_dir(folder, recursive=True)
    await coco.mount_each(process_file, files.items(), folder, copy)


app = coco.App(
    coco.AppConfig(name="Folder"),
    main,
    folder=pathlib.Path(os.environ["FOLDER"]),
    copy=pathlib.Path(os.environ["COPY"]),
)
