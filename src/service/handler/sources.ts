/** Sources that corpora follow. */
import type { BodyOf } from '../../contract/contract.ts';
import type { SourceName } from '../../engine/sync/commands.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { kindOfLocation } from '../../source/kind/recognize.ts';
import { listRemoved } from '../../store/document/removed.ts';
import { listChanges, listChangesOfKind } from '../../store/sync/changes.ts';
import { getRun, listRuns, type SyncRunRow } from '../../store/sync/runs.ts';
import { getSourceOfHook, listSyncSources } from '../../store/sync/sources.ts';
import { newSecret, signalOf } from '../../webhook/signal.ts';
import { limitOf, nextPage, numberCursor } from '../cursor.ts';
import type { Handlers, Service, StoreHandlers, StoreService } from '../service.ts';
import { changeShape, hookPath, removedShape, runShape, sourceShape } from '../view/source.ts';

export function sourceRoutes(service: StoreService) {
  const { database, sources } = service;
  const of = (ask: Named): SourceName => ({
    caller: ask.caller.callerId,
    name: ask.params.name,
  });
  const shown = async (ask: Named) => sourceShape(database, await sources.source(of(ask)));
  return {
    'GET /sources': async ({ caller: { callerId: caller } }) => {
      const rows = await listSyncSources(database, { caller, limit: limits.sync.sourcesMax });
      return { items: await Promise.all(rows.map((row) => sourceShape(database, row))) };
    },
    'POST /sources': async ({ caller: { callerId: caller }, body }) =>
      sourceShape(database, await sources.add(await inputOf(service, caller, body))),
    'GET /sources/:name': shown,
    'PATCH /sources/:name': async (ask) => {
      const { schedule, ...chosen } = ask.body;
      const options = optionsOf(chosen);
      return sourceShape(database, await sources.update(of(ask), { schedule, options }));
    },
    'POST /sources/:name/webhook': async (ask) => {
      const [hook, secret] = [service.world.uuid(), newSecret()];
      await sources.setHook(of(ask), { hook, hook_secret: secret });
      return { path: hookPath(hook), secret };
    },
    'DELETE /sources/:name/webhook': async (ask) => {
      await sources.setHook(of(ask), { hook: null, hook_secret: null });
      return shown(ask);
    },
    'DELETE /sources/:name': async (ask) => {
      await sources.remove(of(ask));
      return { name: ask.params.name, removed: true };
    },
    'POST /sources/:name/run': async (ask) => {
      const { plan: isPlan = false, cause = 'request' } = ask.body;
      const id = await sources.run(of(ask), { cause, isPlan });
      return runShape(database, ask.params.name, (await getRun(database, id)) as SyncRunRow);
    },
    'POST /sources/:name/pause': async (ask) => sourceShape(database, await sources.pause(of(ask))),
    'POST /sources/:name/resume': async (ask) =>
      sourceShape(database, await sources.resume(of(ask))),
    'POST /sources/:name/apply': async (ask) =>
      runShape(database, ask.params.name, await sources.decide(of(ask), 'apply')),
    'POST /sources/:name/ignore': async (ask) =>
      runShape(database, ask.params.name, await sources.decide(of(ask), 'ignore')),
    'GET /sources/:name/removed': async (ask) => {
      const { id: source_id } = await sources.source(of(ask));
      const rows = await listRemoved(database, { source_id, limit: limitOf(ask.query) });
      return { items: rows.map(removedShape) };
    },
    'POST /sources/:name/restore': async (ask) => ({
      restored: await sources.restore(of(ask), ask.body.keys),
    }),
    ...runsOf(service, of),
  } satisfies Partial<StoreHandlers>;
}

/** Messages that a source has changed. An unknown address is refused as a wrong signature is. */
export function hookRoutes({ database, sources, world }: Service) {
  return {
    'POST /hooks/:hook': async ({ params, body, request }) => {
      const row = await getSourceOfHook(database, params.hook);
      const secret = row?.hook_secret ?? newSecret();
      const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
      const key = signalOf({ headers: request.headers, body: bytes }, { secret, now: world.now() });
      if (!row || key === undefined) {
        const message =
          'the signature does not match this address, its secret, the body and the time';
        throw new Failure('forbidden', message);
      }
      await sources.changed(row, key);
      return { accepted: true };
    },
  } satisfies Partial<Handlers>;
}

export interface Named {
  readonly caller: { readonly callerId: string };
  readonly params: { readonly name: string };
}

function runsOf({ database, sources }: StoreService, of: (ask: Named) => SourceName) {
  const ownRun = async (ask: Named & { readonly params: { readonly run: string } }) => {
    const source = await sources.source(of(ask));
    const row = await getRun(database, Number(ask.params.run));
    if (row?.source_id === source.id) return row;
    const message = `the source ${source.name} has no run ${ask.params.run}`;
    throw new Failure('sync_run_unknown', message);
  };
  return {
    'GET /sources/:name/runs': async (ask) => {
      const { id: source_id, name } = await sources.source(of(ask));
      const limit = limitOf(ask.query);
      const before = numberCursor(ask.query) ?? Number.MAX_SAFE_INTEGER;
      const rows = await listRuns(database, { source_id, before, limit });
      const items = await Promise.all(rows.map((row) => runShape(database, name, row)));
      return { items, ...nextPage(rows, limit, ({ id }) => id) };
    },
    'GET /sources/:name/runs/:run': async (ask) =>
      runShape(database, ask.params.name, await ownRun(ask)),
    'GET /sources/:name/runs/:run/changes': async (ask) => {
      const { id: run_id } = await ownRun(ask);
      const limit = limitOf(ask.query);
      const after = numberCursor(ask.query) ?? 0;
      const { kind } = ask.query;
      const page = { run_id, after, limit };
      const rows = kind
        ? await listChangesOfKind(database, { ...page, kind })
        : await listChanges(database, page);
      return { items: rows.map(changeShape), ...nextPage(rows, limit, ({ id }) => id) };
    },
  } satisfies Partial<StoreHandlers>;
}

/**
 * Only the owner of a corpus makes it follow something. A caller with a key may not name folders of
 * this machine: it would read files that are not its own.
 */
async function inputOf(
  { corpora, isLocal }: StoreService,
  caller: string,
  { corpus_name, kind: named, ...rest }: BodyOf<'POST /sources'>,
) {
  const kind = named ?? kindOfLocation(rest.location);
  if (!isLocal && usesThisMachine(kind, rest.location)) {
    const message =
      'a service with keys follows no folders, repositories and buckets, because it would read ' +
      'them with its own rights: run `pawl sync` on a machine that has those rights';
    throw new Failure('forbidden', message);
  }
  const { name: corpus, access } = await corpora.target(caller, corpus_name);
  if (access !== 'own') {
    throw new Failure('forbidden', `only the owner of ${corpus} can make it follow a source`);
  }
  const { location, name, schedule, ...chosen } = rest;
  return { caller, corpus, kind, location, name, schedule, options: optionsOf(chosen) };
}

function optionsOf(chosen: Omit<BodyOf<'PATCH /sources/:name'>, 'schedule'>) {
  const { follow_links, budget_cents, hold_above_percent, ...rest } = chosen;
  return {
    ...rest,
    followLinks: follow_links,
    budgetCents: budget_cents,
    holdAbovePercent: hold_above_percent,
  };
}

/** Kinds that read files of this machine, or with its keys. */
function usesThisMachine(kind: string, location: string): boolean {
  if (kind === 'urls') return !/^https?:\/\//i.test(location);
  return ['folder', 'git', 'bucket'].includes(kind);
}
