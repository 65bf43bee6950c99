/** An attempt on a fresh store, with parsers that a test can hold and count. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { realWorld } from '../../src/app/world.ts';
import { openAttempt } from '../../src/attempt/open.ts';
import type { AttemptSession, News } from '../../src/attempt/session.ts';
import { openBlobDirectory } from '../../src/blob/directory.ts';
import { Commands } from '../../src/engine/command/commands.ts';
import type { AttemptPhase, AttemptStatus } from '../../src/kernel/lifecycle/attempt.ts';
import { item } from '../../src/kernel/lifecycle/item.ts';
import type { World } from '../../src/kernel/world.ts';
import { parse } from '../../src/pipeline/extract/format/parse.ts';
import type { Parser } from '../../src/pipeline/extract/parsed.ts';
import { allowedHosts } from '../../src/pipeline/fetch/address.ts';
import { httpFetcher } from '../../src/pipeline/fetch/http/http.ts';
import { Preview } from '../../src/pipeline/preview.ts';
import { TextThreads } from '../../src/pipeline/thread/text-threads.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { migrate } from '../../src/store/driver/migrate.ts';
import { openSqlite } from '../../src/store/driver/sqlite.ts';
import type { sql } from '../../src/store/driver/statement.ts';
import { aliveProcess, recordingLog } from './attempt-fixture.ts';
import { type Cleanup, temporaryDirectory } from './temporary.ts';

export interface SessionSetup {
  readonly session: AttemptSession;
  readonly database: Database;
  readonly directory: string;
  /** The published events, in order. */
  readonly news: News[];
  readonly lines: string[];
  /** The names of the sources that were parsed to the end. */
  readonly parsed: string[];
  upload(name: string, text: string | Uint8Array, caller?: string): Promise<string>;
  file(name: string, text: string): string;
  /** Resolves when such an event is next published. */
  published(what: { status?: AttemptStatus; phase?: AttemptPhase }): Promise<void>;
  rows<Row>(text: string): Promise<Row[]>;
  count(table: string): Promise<number>;
  workspaces(): string[];
}

export interface SessionReplacements {
  readonly parser?: Parser;
  readonly allowHosts?: readonly string[];
  /** Added to the time. */
  readonly laterMs?: () => number;
  readonly commands?: (own: Commands) => Pick<Commands, 'submitParsed'>;
}

export async function setupSession(
  t: Cleanup,
  replaced: SessionReplacements = {},
): Promise<SessionSetup> {
  const directory = temporaryDirectory(t);
  const world = worldLater(replaced.laterMs);
  const { log, lines } = recordingLog();
  const database = openSqlite({ path: join(directory, 'pawl.db'), world });
  await migrate(database, item);
  const commands = new Commands({
    ...{ database, lifecycle: item, world },
    ...{ ring: () => undefined, revoke: () => undefined, revokeJob: () => undefined },
  });
  const parsed: string[] = [];
  const own = replaced.parser ?? parse;
  const parser: Parser = async (input, signal) => {
    const found = await own(input, signal);
    parsed.push(input.source);
    return found;
  };
  const fetcher = httpFetcher({ world, allowed: allowedHosts(replaced.allowHosts ?? []) });
  const preview = new Preview({ fetcher, parser, world });
  const [texts, folder] = [new TextThreads(world), join(directory, 'attempts')];
  const session = await openAttempt({
    ...{ database, world, log, parser, folder, liveness: aliveProcess, chunker: texts.cut },
    commands: replaced.commands?.(commands) ?? commands,
    blobs: openBlobDirectory(join(directory, 'blobs'), world),
    read: (source, signal) => preview.read(source, signal),
  });
  t.after(async () => {
    await Promise.all([session.close(), texts.close()]);
    await database.close();
  });
  const news: News[] = [];
  session.listen((each) => news.push(each));
  const rows = async <Row>(text: string): Promise<Row[]> => {
    const found = await database.run({ text } as ReturnType<typeof sql<Row>>);
    return found.map((row) => ({ ...row }));
  };
  return {
    ...{ session, database, directory, news, lines, parsed, rows },
    upload: async (name, text, caller = 'me') => {
      const { id } = await session.staging.stageUpload(caller, { name, pieces: inPieces(text) });
      return id;
    },
    file: (name, text) => {
      const path = join(directory, 'files', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },
    published: (what) => whenTold(session, what),
    count: async (table) => {
      const [row] = await rows<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`);
      return Number(row?.count);
    },
    workspaces: () => readdirSync(folder).filter((name) => !name.includes('staging')),
  };
}

function worldLater(laterMs: () => number = () => 0): World {
  const world = realWorld();
  return { ...world, now: () => world.now() + laterMs() };
}

async function* inPieces(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text as string);
  for (let start = 0; start < bytes.length; start += 1000) {
    yield bytes.subarray(start, start + 1000);
  }
}

function whenTold(
  session: AttemptSession,
  { status, phase }: { status?: AttemptStatus; phase?: AttemptPhase },
): Promise<void> {
  return new Promise((resolve) => {
    const stop = session.listen((news) => {
      if (news.kind !== 'attempt') return;
      if (status !== undefined && news.view.status !== status) return;
      if (phase !== undefined && news.view.phase !== phase) return;
      stop();
      resolve();
    });
  });
}
