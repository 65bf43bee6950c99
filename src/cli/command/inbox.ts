/** `pawl inbox`: failed documents by cause, with the actions to take. */
import type { AnswerOf } from '../../contract/contract.ts';
import type { Item } from '../../contract/schema/schema.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { chooseAction, onlyArgument } from '../action.ts';
import {
  answer,
  type Call,
  type Command,
  exits,
  textOf,
  usageError,
  withStore,
} from '../command.ts';
import { consentOption, hasConsent } from '../consent.ts';
import { entriesOf, type PawlClient } from '../pawl-client.ts';
import { workOrLeave } from '../view/follow.ts';
import { printHeld } from '../view/sync.ts';
import { printPairs } from '../view/table.ts';
import { ago, agoExactly, count, cut, cutPath, number, printable } from '../view/wording.ts';

export const inbox: Command = {
  name: 'inbox',
  summary: 'failed documents by cause: list, show, retry, discard',
  usage: [
    'inbox [list] [--cause CODE] [--corpus NAME]',
    'inbox show ITEM',
    'inbox retry ITEM… | --cause CODE | --all',
    'inbox discard ITEM… | --cause CODE | --all [--yes]',
  ],
  options: {
    cause: { type: 'string', value: 'CODE', meaning: 'only documents that failed for this cause' },
    corpus: { type: 'string', short: 'c', value: 'NAME', meaning: 'only documents of this corpus' },
    all: { type: 'boolean', short: 'a', meaning: 'all documents in the inbox' },
    ...consentOption,
  },
  examples: ['pawl inbox', 'pawl inbox show 14', 'pawl inbox retry --cause source_missing'],
  run: chooseAction('inbox', { list, show, retry, discard }),
};

const shownOfCause = 5;

type Cause = Pick<
  AnswerOf<'GET /inbox'>['causes'][number],
  'cause' | 'count' | 'title' | 'advice' | 'first_at' | 'last_at'
>;

/** The inbox groups causes by code and domain; the command shows them by code. */
async function causesOf({ ask }: PawlClient, query: Filter): Promise<Cause[]> {
  const { causes } = await ask('GET /inbox', { query: { ...query, limit: 1 } });
  const byCode = new Map<string, Cause>();
  for (const { cause, count: failed, title, advice, ...times } of causes) {
    const known = byCode.get(cause) ?? { count: 0, ...times };
    // Times in ISO format sort as text.
    const [first_at] = [known.first_at, times.first_at].sort() as [string];
    const [last_at] = [known.last_at, times.last_at].sort().reverse() as [string];
    byCode.set(cause, { cause, count: known.count + failed, title, advice, first_at, last_at });
  }
  return [...byCode.values()].sort((one, other) => other.count - one.count);
}

async function list(call: Call): Promise<number> {
  const { terminal, isJson } = call;
  const filter = filterOf(call);
  return withStore(call, async (pawl) => {
    if (isJson) {
      terminal.print(JSON.stringify(await wholeInbox(pawl, filter)));
      return exits.well;
    }
    const causes = await causesOf(pawl, filter);
    const limit = filter.cause === undefined ? shownOfCause : limits.request.pageItemsMax;
    const itemsOf = async ({ cause }: Cause): Promise<Item[]> =>
      (await pawl.ask('GET /inbox', { query: { ...filter, cause, limit } })).items;
    const all = causes.reduce((sum, cause) => sum + cause.count, 0);
    terminal.print(all === 0 ? 'the inbox is empty' : `${count(all, 'document')} failed`);
    for (const cause of causes) printCause(call, cause, await itemsOf(cause));
    const { held = [] } = await pawl.ask('GET /inbox', { query: { limit: 1 } });
    for (const run of held) {
      terminal.print();
      printHeld(terminal, run);
    }
    return exits.well;
  });
}

/** All pages of `GET /inbox` as one. */
async function wholeInbox({ ask }: PawlClient, filter: Filter): Promise<AnswerOf<'GET /inbox'>> {
  const limit = limits.request.pageItemsMax;
  const first = await ask('GET /inbox', { query: { ...filter, limit } });
  const items = [...first.items];
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const page = await ask('GET /inbox', { query: { ...filter, limit, cursor } });
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return { ...first, items, next_cursor: null };
}

function printCause({ terminal }: Call, cause: Cause, items: readonly Item[]): void {
  const dim = (text: string): string => terminal.paint('dim', text);
  terminal.print();
  const head = `${terminal.paint(['bold', 'red'], cause.title)}  ${number(cause.count)}`;
  terminal.print(`${head}  ${dim(cause.cause)}`);
  terminal.print(cause.advice);
  const width = Math.max(...items.map(({ item_id }) => String(item_id).length)) + 1;
  for (const item of items) {
    const id = `#${item.item_id}`.padStart(width + 1);
    const source = cutPath(printable(item.source), terminal.columns() - width - 16);
    terminal.print(`  ${id}  ${source}  ${dim(ago(item.failed_at ?? item.moved_at))}`);
    const indent = ' '.repeat(width + 5);
    terminal.print(
      `${indent}${dim(cut(printable(saidOfItem(item)), terminal.columns() - width - 5))}`,
    );
  }
  const rest = cause.count - items.length;
  if (rest > 0)
    terminal.print(dim(`  and ${number(rest)} more: pawl inbox --cause ${cause.cause}`));
  terminal.print(dim(`  pawl inbox retry --cause ${cause.cause}`));
}

/** Documents with the same cause may still have different error messages. */
function saidOfItem({ source, error }: Item): string {
  const message = error?.message ?? '';
  return message.startsWith(`${source} `) ? message.slice(source.length + 1) : message;
}

async function show(call: Call, args: readonly string[]): Promise<number> {
  const id = readId(onlyArgument(args, 'item'));
  return withStore(call, async (pawl) => {
    const item = await readItem(pawl, id);
    return answer(call, item, () => printItem(call, item));
  });
}

function printItem({ terminal }: Call, item: Item): void {
  const { item_id: id, error, failed_at: failedAt } = item;
  printPairs(terminal, [
    ['item', `#${id}`],
    ['source', printable(item.source)],
    ['corpus', item.corpus_name],
    ['job', item.job_id],
    ['step', item.step],
    ...(error === null || failedAt === null
      ? []
      : ([
          ['failed', agoExactly(failedAt)],
          ['at step', `${error.step} (${error.stage}), attempt ${error.context.attempt}`],
          ['cause', `${terminal.paint('red', error.code)}, ${error.kind}`],
          ['said', printable(error.message)],
          ['what to do', item.advice ?? ''],
          ['actions', `pawl inbox retry ${id}, pawl inbox discard ${id}`],
        ] as const)),
  ]);
}

async function retry(call: Call, args: readonly string[]): Promise<number> {
  return withStore(call, async (pawl) => {
    const items = await chosenItems(call, pawl, args);
    if (items.length === 0) return tellNone(call);
    const after = await pawl.newestEvent();
    const body = { item_ids: items.map(({ item_id }) => item_id) };
    const { retried } = await pawl.ask('POST /inbox/retry', { body });
    if (!call.isJson) call.terminal.print(`retrying ${count(retried, 'document')}`);
    let exit: number = exits.well;
    // The engine works on all jobs concurrently; only the progress is shown job by job.
    for (const id of new Set(items.map(({ job_id }) => job_id))) {
      exit = Math.max(exit, await workOrLeave(call, pawl, await pawl.job(id), { after }));
      if (call.interrupt.aborted) break;
    }
    return exit;
  });
}

async function discard(call: Call, args: readonly string[]): Promise<number> {
  return withStore(call, async (pawl) => {
    const items = await chosenItems(call, pawl, args);
    if (items.length === 0) return tellNone(call);
    const question = `Discard ${count(items.length, 'failed document')}?`;
    if (!(await hasConsent(call, question))) return exits.error;
    const body = { item_ids: items.map(({ item_id }) => item_id) };
    const { discarded } = await pawl.ask('POST /inbox/discard', { body });
    const sentence = `discarded ${count(discarded, 'document')}`;
    return answer(call, { discarded }, sentence);
  });
}

function tellNone(call: Call): number {
  return answer(call, { retried: 0, discarded: 0 }, 'no matching documents in the inbox');
}

/** The named items, those of a cause, or all. */
async function chosenItems(call: Call, pawl: PawlClient, args: readonly string[]): Promise<Item[]> {
  const filter = filterOf(call);
  const isAll = call.flags.all === true;
  const ways = [args.length > 0, filter.cause !== undefined, isAll].filter(Boolean).length;
  if (ways !== 1) throw usageError('name items, or add --cause CODE or --all');
  const items: Item[] = [];
  for (const id of args.map(readId)) items.push(await readItem(pawl, id));
  if (args.length > 0) return items;
  const failed = entriesOf((query) => pawl.ask('GET /inbox', { query: { ...filter, ...query } }));
  for await (const item of failed) {
    items.push(item);
    if (items.length >= limits.job.itemsMax) break;
  }
  return items;
}

interface Filter {
  readonly cause?: string | undefined;
  readonly corpus_name?: string | undefined;
}

function filterOf({ flags }: Call): Filter {
  return { cause: textOf(flags, 'cause'), corpus_name: textOf(flags, 'corpus') };
}

function readItem({ ask }: PawlClient, id: number): Promise<Item> {
  return ask('GET /items/:id', { params: { id: String(id) } });
}

function readId(text: string): number {
  const id = Number(text.replace(/^#/, ''));
  if (Number.isSafeInteger(id) && id > 0) return id;
  throw usageError(`an item is a number, not ${text}`);
}
