/** The attempt of a store: what is staged by a person, prepared beside it and committed at once. */
import { join, resolve } from 'node:path';
import { openAttempt } from '../../attempt/open.ts';
import type { AttemptSession } from '../../attempt/session.ts';
import type { StreamedBlobStore } from '../../blob/blob.ts';
import type { Engine } from '../../engine/engine.ts';
import { thisProcess } from '../../engine/item/liveness.ts';
import type { World } from '../../kernel/world.ts';
import { type Log, makeLog } from '../../observe/log.ts';
import type { Chunker } from '../../pipeline/chunk/chunker.ts';
import type { ProcessParser } from '../../pipeline/extract/process/process-parser.ts';
import type { Rendering } from '../../pipeline/fetch/browser/visible-page.ts';
import type { Fetcher } from '../../pipeline/fetch/http/http.ts';
import { Preview } from '../../pipeline/preview.ts';
import type { Database } from '../../store/driver/database.ts';

export interface AttemptParts {
  readonly database: Database;
  readonly blobs: StreamedBlobStore;
  readonly world: World;
  readonly engine: Engine;
  readonly parser: ProcessParser;
  readonly fetcher: Fetcher;
  readonly rendering: Rendering | undefined;
  readonly chunker: Chunker;
}

export function attemptOf(
  { data, attemptLog }: { readonly data: string; readonly attemptLog?: Log | undefined },
  { database, blobs, world, engine, parser, chunker, ...reading }: AttemptParts,
): Promise<AttemptSession> {
  const { parse } = parser;
  const preview = new Preview({ ...reading, parser: parse, world });
  return openAttempt({
    ...{ database, blobs, world, commands: engine.commands, parser: parse, chunker },
    folder: join(resolve(data), 'attempts'),
    liveness: thisProcess(),
    read: (source, signal) => preview.read(source, signal),
    log: attemptLog ?? makeLog('silent', () => undefined),
  });
}
