/** `pawl sync`: the places that corpora follow. */
import { resolve } from 'node:path';
import { syncSourceState } from '../../../kernel/lifecycle/sync-source.ts';
import { type ChangeKind, changeKinds } from '../../../store/sync/changes.ts';
import { chooseAction, onlyArgument } from '../../action.ts';
import {
  answer,
  type Call,
  type Command,
  centsOf,
  exits,
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
  summary: 'places that a corpus follows: add, run, plan, apply, ignore, history, restore',
  usage: [
    'sync [list]',
    'sync add FOLDER --corpus NAME [--name NAME] [--every 15m | --cron FIELDS]',
    'sync run [NAME]',
    'sync plan NAME',
    'sync apply NAME',
    'sync ignore NAME',
    'sync pause NAME',
    'sync resume NAME',
    'sync history NAME [--kind KIND]',
    'sync restore NAME [KEY…]',
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
    every: { type: 'string', value: 'TIME', meaning: 'run at this interval: 30s, 15m, 2h, 1d' },
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
      meaning: 'pause a job of a run before it costs more',
    },
    kind: {
      type: 'string',
      value: 'KIND',
      meaning: `changes of the newest run: ${changeKinds.join(', ')}`,
    },
    ...consentOption,
  },
  examples: [
    'pawl sync add ./docs --corpus docs --every 10m',
    'pawl sync plan docs',
    'pawl sync run',
    'pawl sync restore docs guide/old.md',
  ],
  run: chooseAction('sync', {
    list,
    add,
    run,
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
    const none = items.length === 0 && 'no sources: `pawl sync add FOLDER --corpus NAME`';
    return answer(call, { items }, none || (() => printSources(call.terminal, items)));
  });
}

/** The options of a source, as the contract names them. */
export function chosenOptions(flags: Call['flags']) {
  const globs = (name: string): string[] | undefined => textOf(flags, name)?.split(',');
  return {
    include: globs('include'),
    exclude: globs('exclude'),
    follow_links: flags['follow-links'] === true ? true : undefined,
    budget_cents: centsOf(flags, 'budget-cents'),
  };
}

async function add(call: Call, args: readonly string[]): Promise<number> {
  const { flags, terminal, isJson } = call;
  const folder = onlyArgument(args, 'folder');
  const corpus = textOf(flags, 'corpus');
  if (corpus === undefined) throw usageError('add --corpus NAME');
  const every = textOf(flags, 'every');
  const cron = textOf(flags, 'cron');
  if (every !== undefined && cron !== undefined)
    throw usageError('use --every or --cron, not both');
  const body = {
    corpus_name: corpus,
    // A path of this machine, unless a service reads it.
    location: serviceOf(call) ? folder : resolve(folder),
    name: textOf(flags, 'name'),
    schedule: every === undefined ? cron : `every ${every}`,
    ...chosenOptions(flags),
  };
  return withClient(call, async (pawl) => {
    const source = await pawl.ask('POST /sources', { body });
    if (!isJson)
      terminal.tell(`${source.corpus_name} follows ${source.location} as ${source.name}`);
    await pawl.work();
    const ended = await runSource(call, pawl, { name: source.name });
    if (!ended) return exits.interrupted;
    const exit = await tellRun(call, pawl, ended);
    if (source.schedule !== null && !serviceOf(call) && !isJson) {
      terminal.tell('the schedule runs while `pawl serve` is running');
    }
    return exit;
  });
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
  const kept = `its ${count(documents, 'document')} stay in the corpus`;
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
