/** `pawl sync`: the places that corpora follow. */
import { resolve } from 'node:path';
import type { SyncSource } from '../../../contract/schema/source.ts';
import { syncSourceState } from '../../../kernel/lifecycle/sync-source.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { type ChangeKind, changeKinds } from '../../../store/sync/changes.ts';
import { chooseAction, onlyArgument } from '../../action.ts';
import {
  answer,
  type Call,
  type Command,
  centsOf,
  exits,
  numberOf,
  serviceOf,
  textOf,
  usageError,
  withClient,
  withStore,
} from '../../command.ts';
import { consentOption, hasConsent } from '../../consent.ts';
import { allOf, type PawlClient } from '../../pawl-client.ts';
import { runSource, tellRun, untilEnded } from '../../sync-run.ts';
import { printRuns, printSources, runLine } from '../../view/sync.ts';
import { count, printable } from '../../view/wording.ts';

export const sync: Command = {
  name: 'sync',
  summary: 'places that a corpus follows: add, update, run, plan, apply, history, restore, webhook',
  usage: [
    'sync [list]',
    'sync add PLACE --corpus NAME [--kind KIND] [--every 15m | --cron FIELDS]',
    'sync update NAME [--every TIME | --cron FIELDS | --on-demand]',
    'sync run [NAME]',
    'sync plan NAME',
    'sync apply NAME',
    'sync ignore NAME',
    'sync pause NAME',
    'sync resume NAME',
    'sync history NAME [--kind KIND]',
    'sync restore NAME [KEY…]',
    'sync webhook NAME [--close]',
    'sync remove NAME [--yes]',
  ],
  options: {
    corpus: {
      type: 'string',
      short: 'c',
      value: 'NAME',
      meaning: 'the corpus; created if it does not exist',
    },
    name: {
      type: 'string',
      value: 'NAME',
      meaning: 'the name of the source; by default its folder',
    },
    every: {
      type: 'string',
      value: 'TIME',
      meaning: 'run at this interval: 30s, 15m, 2h, 1d; 15m..1d: doubled while nothing changes',
    },
    'on-demand': { type: 'boolean', meaning: 'update: without a schedule' },
    close: { type: 'boolean', meaning: 'webhook: take no more messages' },
    cron: { type: 'string', value: 'FIELDS', meaning: 'run at these times, in UTC: "0 3 * * *"' },
    include: { type: 'string', value: 'GLOB', meaning: 'only these files; separate with commas' },
    exclude: { type: 'string', value: 'GLOB', meaning: 'not these files' },
    'follow-links': {
      type: 'boolean',
      meaning: 'read files behind symbolic links that leave the folder',
    },
    'budget-cents': {
      type: 'string',
      value: 'N',
      meaning: 'pause the jobs of a run before they cost more together',
    },
    'hold-above': {
      type: 'string',
      value: 'PERCENT',
      meaning: 'ask before a run removes more than this share of the documents; 20 if absent',
    },
    kind: {
      type: 'string',
      value: 'KIND',
      meaning:
        'add: folder, urls, site, feed, git or bucket; if absent, what PLACE shows. ' +
        `history: changes of the newest run: ${changeKinds.join(', ')}`,
    },
    branch: { type: 'string', value: 'NAME', meaning: 'the branch of a repository' },
    depth: { type: 'string', value: 'N', meaning: 'follow links of a site up to this distance' },
    limit: { type: 'string', short: 'n', value: 'N', meaning: 'the most pages of a site' },
    endpoint: {
      type: 'string',
      value: 'URL',
      meaning: 'the server of a bucket; Amazon S3 if absent',
    },
    ...consentOption,
  },
  examples: [
    'pawl sync add ./docs --corpus docs --every 10m',
    'pawl sync add https://docs.example.com/ --kind site --corpus docs --every 1d',
    'pawl sync plan docs',
    'pawl sync run',
    'pawl sync restore docs guide/old.md',
    'pawl sync webhook handbook',
  ],
  run: chooseAction('sync', {
    list,
    add,
    update,
    run,
    webhook,
    plan: (call, args) =>
      withSource(call, args, async (pawl, name) => {
        await pawl.work();
        return showPlan(call, pawl, name);
      }),
    apply: (call, args) => decide(call, args, 'POST /sources/:name/apply'),
    ignore: (call, args) => decide(call, args, 'POST /sources/:name/ignore'),
    pause: (call, args) => steer(call, args, 'POST /sources/:name/pause'),
    resume: (call, args) => steer(call, args, 'POST /sources/:name/resume'),
    history: (call, args) => withSource(call, args, (pawl, name) => history(call, pawl, name)),
    restore,
    remove: (call, args) => withSource(call, args, (pawl, name) => remove(call, pawl, name)),
  }),
};

function withSource(
  call: Call,
  args: readonly string[],
  use: (pawl: PawlClient, name: string) => Promise<number>,
): Promise<number> {
  const name = onlyArgument(args, 'source');
  return withStore(call, (pawl) => use(pawl, name));
}

function list(call: Call): Promise<number> {
  return withStore(call, async ({ ask }) => {
    const { items } = await ask('GET /sources');
    const none = items.length === 0 && 'no sources: `pawl sync add PLACE --corpus NAME`';
    return answer(call, { items }, none || (() => printSources(call.terminal, items)));
  });
}

function isAddress(location: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/|^[\w.+-]+@[\w.-]+:/i.test(location);
}

/** The options of a source, as the contract names them. */
export function chosenOptions(flags: Call['flags']) {
  const globs = (name: string): string[] | undefined => textOf(flags, name)?.split(',');
  return {
    include: globs('include'),
    exclude: globs('exclude'),
    follow_links: flags['follow-links'] === true ? true : undefined,
    budget_cents: centsOf(flags, 'budget-cents'),
    hold_above_percent: numberOf(flags, 'hold-above', { min: 0, max: 100 }),
  };
}

function optionsOfKind(flags: Call['flags']) {
  return {
    branch: textOf(flags, 'branch'),
    depth: numberOf(flags, 'depth', { min: 0, max: limits.job.crawlDepthMax }),
    limit: numberOf(flags, 'limit', { min: 1, max: limits.job.crawlPagesMax }),
    endpoint: textOf(flags, 'endpoint'),
  };
}

function scheduleOf(flags: Call['flags']): string | undefined {
  const every = textOf(flags, 'every');
  const cron = textOf(flags, 'cron');
  if (every !== undefined && cron !== undefined)
    throw usageError('use --every or --cron, not both');
  return every === undefined ? cron : `every ${every}`;
}

function update(call: Call, args: readonly string[]): Promise<number> {
  const { flags } = call;
  const chosen = scheduleOf(flags);
  if (chosen !== undefined && flags['on-demand'] === true)
    throw usageError('use --on-demand or a schedule, not both');
  const schedule = flags['on-demand'] === true ? null : chosen;
  const body = { schedule, ...chosenOptions(flags), ...optionsOfKind(flags) };
  return withSource(call, args, async ({ ask }, name) => {
    const source = await ask('PATCH /sources/:name', { params: { name }, body });
    const when = source.schedule === null ? 'on demand' : source.schedule;
    return answer(call, source, `${source.name} runs ${when}`);
  });
}

function webhook(call: Call, args: readonly string[]): Promise<number> {
  return withSource(call, args, async ({ ask }, name) => {
    const params = { name };
    if (call.flags.close === true) {
      const source = await ask('DELETE /sources/:name/webhook', { params });
      return answer(call, source, `${name} takes no more messages`);
    }
    const made = await ask('POST /sources/:name/webhook', { params });
    return answer(call, made, () => {
      call.terminal.print(`path    ${made.path}`);
      call.terminal.print(`secret  ${made.secret}`);
      call.terminal.tell('the secret is shown only now; another call replaces both');
    });
  });
}

async function add(call: Call, args: readonly string[]): Promise<number> {
  const { flags, terminal, isJson } = call;
  const location = onlyArgument(args, 'folder or address');
  const corpus = textOf(flags, 'corpus');
  if (corpus === undefined) throw usageError('add --corpus NAME');
  const body = {
    corpus_name: corpus,
    // A path of this machine, unless a service reads it.
    location: serviceOf(call) || isAddress(location) ? location : resolve(location),
    kind: textOf(flags, 'kind'),
    name: textOf(flags, 'name'),
    schedule: scheduleOf(flags),
    ...chosenOptions(flags),
    ...optionsOfKind(flags),
  };
  return withClient(call, async (pawl) => {
    const source = await pawl.ask('POST /sources', { body });
    if (!isJson)
      terminal.tell(`${source.corpus_name} follows ${source.location} as ${source.name}`);
    await pawl.work();
    const ended = await firstRun(call, pawl, source);
    if (!ended) return exits.interrupted;
    const exit = await tellRun(call, pawl, ended);
    if (source.schedule !== null && !serviceOf(call) && !isJson) {
      terminal.tell('the schedule runs while `pawl serve` is running');
    }
    return exit;
  });
}

/** The run that a new schedule began with, or one of its own. */
function firstRun(call: Call, pawl: PawlClient, { name, created_at, last_run }: SyncSource) {
  const isFirst = last_run?.created_at === created_at;
  if (!isFirst) return runSource(call, pawl, { name });
  return untilEnded(call, pawl, { name, runId: last_run.run_id });
}

/** Runs one source, or all that are not paused. */
async function run(call: Call, args: readonly string[]): Promise<number> {
  return withStore(call, async (pawl) => {
    const named = args.length > 0 ? [onlyArgument(args, 'source')] : undefined;
    const { items } = named ? { items: [] } : await pawl.ask('GET /sources');
    const followed = items.filter(({ next_run_at, schedule, state }) => {
      return next_run_at !== null || (schedule === null && state !== syncSourceState.paused);
    });
    const names = named ?? followed.map(({ name }) => name);
    if (names.length === 0) return answer(call, { items: [] }, 'no sources to run');
    await pawl.work();
    let exit: number = exits.well;
    for (const name of names) {
      const ended = await runSource(call, pawl, { name });
      if (!ended) return exits.interrupted;
      exit = Math.max(exit, await tellRun(call, pawl, ended));
    }
    return exit;
  });
}

async function showPlan(call: Call, pawl: PawlClient, name: string): Promise<number> {
  const ended = await runSource(call, pawl, { name, plan: true });
  if (!ended) return exits.interrupted;
  const changes: Change[] = [];
  for (const kind of changeKinds) {
    if (ended.found[kind] > 0) changes.push(...(await changesOf(pawl, ended, kind)));
  }
  return answer(call, { run: ended, changes }, () => {
    call.terminal.print(runLine(call.terminal, ended));
    printChanges(call, changes);
  });
}

type Change = Awaited<ReturnType<typeof changesOf>>[number];

function changesOf(
  { ask }: PawlClient,
  { source: name, run_id }: { readonly source: string; readonly run_id: number },
  kind: ChangeKind,
) {
  const params = { name, run: String(run_id) };
  return allOf((query) =>
    ask('GET /sources/:name/runs/:run/changes', { params, query: { ...query, kind } }),
  );
}

function printChanges({ terminal }: Call, changes: readonly Change[]): void {
  const dim = (text: string): string => terminal.paint('dim', text);
  for (const { kind, key, from_key, evidence } of changes) {
    const from = from_key === null ? '' : ` from ${printable(from_key)}`;
    terminal.print(`${kind.padEnd(9)} ${printable(key)}${from}  ${dim(evidence)}`);
  }
}

async function decide(
  call: Call,
  args: readonly string[],
  route: 'POST /sources/:name/apply' | 'POST /sources/:name/ignore',
): Promise<number> {
  return withSource(call, args, async (pawl, name) => {
    const { run_id } = await pawl.ask(route, { params: { name } });
    await pawl.work();
    const ended = await untilEnded(call, pawl, { name, runId: run_id });
    return ended ? tellRun(call, pawl, { ...ended, job_ids: [] }) : exits.interrupted;
  });
}

async function steer(
  call: Call,
  args: readonly string[],
  route: 'POST /sources/:name/pause' | 'POST /sources/:name/resume',
): Promise<number> {
  return withSource(call, args, async ({ ask }, name) => {
    const source = await ask(route, { params: { name } });
    return answer(call, source, `${source.name} is ${source.state}`);
  });
}

async function history(call: Call, pawl: PawlClient, name: string): Promise<number> {
  const kind = textOf(call.flags, 'kind');
  const params = { name };
  if (kind === undefined) {
    const runs = await allOf((query) => pawl.ask('GET /sources/:name/runs', { params, query }));
    const none = runs.length === 0 && 'no runs yet';
    return answer(call, { items: runs }, none || (() => printRuns(call.terminal, runs)));
  }
  const known = changeKinds.find((each) => each === kind);
  if (!known) throw usageError(`--kind must be one of ${changeKinds.join(', ')}, not ${kind}`);
  const { items } = await pawl.ask('GET /sources/:name/runs', { params, query: { limit: 1 } });
  const changes = items[0] ? await changesOf(pawl, items[0], known) : [];
  const none = changes.length === 0 && `the newest run has no ${kind} documents`;
  return answer(call, { items: changes }, none || (() => printChanges(call, changes)));
}

async function restore(call: Call, [name, ...keys]: readonly string[]): Promise<number> {
  if (name === undefined) throw usageError('name the source');
  return withStore(call, async ({ ask }) => {
    const body = keys.length > 0 ? { keys } : {};
    const receipt = await ask('POST /sources/:name/restore', { params: { name }, body });
    return answer(call, receipt, `brought back ${count(receipt.restored, 'document')}`);
  });
}

async function remove(call: Call, { ask }: PawlClient, name: string): Promise<number> {
  const { documents } = await ask('GET /sources/:name', { params: { name } });
  const stay = documents === 1 ? 'stays' : 'stay';
  const kept = `its ${count(documents, 'document')} ${stay} in the corpus`;
  if (!(await hasConsent(call, `Stop following ${name}? ${kept}.`))) return exits.error;
  const receipt = await ask('DELETE /sources/:name', { params: { name } });
  return answer(call, receipt, `${name} is no longer followed; ${kept}`);
}

/** `pawl ingest FOLDER --prune`: follows the folder without a schedule, and runs it once. */
export async function pruneFolder(call: Call, corpus: string): Promise<number> {
  const { positionals, flags } = call;
  const others = ['crawl', 'estimate', 'force', 'lane', 'max-wall-seconds', 'priority'];
  const other = others.find((name) => flags[name] !== undefined);
  if (other !== undefined) throw usageError(`--prune and --${other} cannot be combined`);
  if (serviceOf(call)) throw usageError('--prune compares a folder of this machine: omit --url');
  const location = resolve(onlyArgument(positionals, 'folder'));
  const body = { corpus_name: corpus, location, ...chosenOptions(flags) };
  return withClient(call, async (pawl) => {
    const { name } = await pawl.ask('POST /sources', { body });
    await pawl.work();
    const ended = await runSource(call, pawl, { name });
    return ended ? tellRun(call, pawl, ended) : exits.interrupted;
  });
}
