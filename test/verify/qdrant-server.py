"""Qdrant's own engine (its edge edition) behind the part of its HTTP interface that Pawl uses.

`python qdrant-server.py PORT FOLDER`. Requests are checked by the models that Qdrant's client has
generated from the published interface; the engine stores, filters and searches.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import qdrant_edge as edge
from pydantic import TypeAdapter, ValidationError
from qdrant_client.http import models

folder = Path(sys.argv[2])
collections: dict[str, "Collection"] = {}
lock = threading.Lock()
completed = {"operation_id": 1, "status": "completed"}


class Refusal(Exception):
    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


class Collection:
    def __init__(self, name: str, body: dict):
        given = checked(models.CreateCollection, body)
        distance = getattr(edge.Distance, given.vectors.distance.value)
        params = edge.EdgeVectorParams(size=given.vectors.size, distance=distance)
        self.config = {"size": given.vectors.size, "distance": given.vectors.distance.value}
        place = folder / name
        place.mkdir()
        self.shard = edge.EdgeShard.create(str(place), edge.EdgeConfig(vectors=params))


def checked(kind, body):
    try:
        return TypeAdapter(kind).validate_python(body)
    except ValidationError as error:
        raise Refusal(400, f"Format error in JSON body: {error}") from error


def filter_of(given: models.Filter | None) -> edge.Filter | None:
    if given is None:
        return None
    return edge.Filter(
        must=conditions_of(given.must),
        must_not=conditions_of(given.must_not),
        should=conditions_of(given.should),
    )


def conditions_of(given) -> list | None:
    if given is None:
        return None
    return [condition_of(each) for each in (given if isinstance(given, list) else [given])]


def condition_of(given):
    if isinstance(given, models.HasIdCondition):
        return edge.HasIdCondition(set(given.has_id))
    if isinstance(given, models.FieldCondition):
        match, bounds = given.match, given.range
        if isinstance(match, models.MatchValue):
            return edge.FieldCondition(given.key, match=edge.MatchValue(match.value))
        if isinstance(match, models.MatchAny):
            return edge.FieldCondition(given.key, match=edge.MatchAny(list(match.any)))
        if isinstance(bounds, models.Range):
            return edge.FieldCondition(given.key, range=edge.RangeFloat(**bounds.model_dump()))
    raise Refusal(400, f"this server has no condition {given!r}")


def operation_of(given):
    if isinstance(given, models.SetPayloadOperation):
        wanted = given.set_payload
        return edge.UpdateOperation.set_payload_by_filter(filter_of(wanted.filter), wanted.payload)
    if isinstance(given, models.DeleteOperation):
        return edge.UpdateOperation.delete_points_by_filter(filter_of(given.delete.filter))
    raise Refusal(400, f"this server has no operation {given!r}")


def create(name: str, body: dict) -> bool:
    if name in collections:
        raise Refusal(409, f"Wrong input: Collection `{name}` already exists!")
    collections[name] = Collection(name, body)
    return True


def remove(name: str) -> bool:
    found = collections.pop(name, None)
    if found is not None:
        found.shard.close()
        place = folder / name
        place.rename(place.with_name(f"removed-{time.monotonic_ns()}"))
    return found is not None


def describe(collection: Collection) -> dict:
    info = collection.shard.info()
    return {
        "status": "green",
        "optimizer_status": "ok",
        "segments_count": info.segments_count,
        "points_count": info.points_count,
        "payload_schema": {},
        "config": {"params": {"vectors": collection.config}},
    }


kinds = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "integer": edge.PayloadSchemaType.Integer,
    "bool": edge.PayloadSchemaType.Bool,
}


def index(collection: Collection, body: dict) -> dict:
    given = checked(models.CreateFieldIndex, body)
    schema = given.field_schema
    if isinstance(schema, models.KeywordIndexParams):
        wanted = edge.KeywordIndexParams(is_tenant=schema.is_tenant)
    else:
        wanted = kinds[schema.value]
    collection.shard.update(edge.UpdateOperation.create_field_index(given.field_name, wanted))
    return completed


def upsert(collection: Collection, body: dict) -> dict:
    given = checked(models.PointsList, body)
    points = [edge.Point(each.id, each.vector, each.payload) for each in given.points]
    collection.shard.update(edge.UpdateOperation.upsert_points(points))
    return completed


def update(collection: Collection, body: dict) -> list:
    given = checked(models.UpdateOperations, body)
    for each in given.operations:
        collection.shard.update(operation_of(each))
    return [completed for _ in given.operations]


def count(collection: Collection, body: dict) -> dict:
    given = checked(models.CountRequest, body)
    wanted = edge.CountRequest(exact=given.exact, filter=filter_of(given.filter))
    return {"count": collection.shard.count(wanted)}


def query(collection: Collection, body: dict) -> dict:
    given = checked(models.QueryRequest, body)
    found = collection.shard.query(
        edge.QueryRequest(
            limit=given.limit,
            query=edge.Query.Nearest(given.query),
            filter=filter_of(given.filter),
            with_payload=given.with_payload,
        )
    )
    points = [
        {"id": str(each.id), "version": each.version, "score": each.score, "payload": each.payload}
        for each in found
    ]
    return {"points": points}


def scroll(collection: Collection, body: dict) -> dict:
    given = checked(models.ScrollRequest, body)
    found, _ = collection.shard.scroll(
        edge.ScrollRequest(
            limit=given.limit, filter=filter_of(given.filter), with_payload=given.with_payload
        )
    )
    return {"points": [{"id": str(each.id), "payload": each.payload} for each in found]}


# Method, path below the collection, handler.
below = {
    ("GET", ""): lambda collection, _: describe(collection),
    ("PUT", "/index"): index,
    ("PUT", "/points"): upsert,
    ("POST", "/points/batch"): update,
    ("POST", "/points/count"): count,
    ("POST", "/points/query"): query,
    ("POST", "/points/scroll"): scroll,
}


def answer(method: str, path: str, body: dict):
    if (method, path) == ("GET", "/collections"):
        return {"collections": [{"name": name} for name in collections]}
    _, first, name, *rest = [unquote(part) for part in path.split("/")]
    tail = "".join(f"/{part}" for part in rest)
    if first != "collections":
        raise Refusal(404, "")
    if (method, tail) == ("GET", "/exists"):
        return {"exists": name in collections}
    if (method, tail) == ("PUT", ""):
        return create(name, body)
    if (method, tail) == ("DELETE", ""):
        return remove(name)
    handler = below.get((method, tail))
    if handler is None:
        raise Refusal(404, f"this server has no {method} {path}")
    if name not in collections:
        raise Refusal(404, f"Not found: Collection `{name}` doesn't exist!")
    return handler(collections[name], body)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self) -> None:
        address = urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        text = self.rfile.read(length)
        unknown = set(parse_qs(address.query)) - {"wait"}
        try:
            if unknown:
                raise Refusal(400, f"unknown parameters {unknown}")
            if (self.command, address.path) == ("GET", "/"):
                engine = version("qdrant-edge-py")
                self.reply(200, {"title": "qdrant - vector search engine", "version": engine})
                return
            with lock:
                result = answer(self.command, address.path, json.loads(text or b"{}"))
            self.reply(200, {"result": result, "status": "ok", "time": 0.001})
        except Refusal as refusal:
            self.reply(refusal.status, {"status": {"error": str(refusal)}, "time": 0.001})
        except Exception as error:  # the engine refused it
            message = f"Wrong input: {type(error).__name__}: {error}"
            self.reply(400, {"status": {"error": message}, "time": 0.001})

    do_GET = do_PUT = do_POST = do_DELETE = serve

    def reply(self, status: int, body: dict) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
