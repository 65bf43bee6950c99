/** `pawl inbox`: failed documents by cause, with the actions to take. */
import { limits } from '../../kernel/limits/limits.ts';
import { jobCauseShape as causeShape, failureOf } from '../../service/view/serializer.ts';
import type { ErrorRecord } from '../../store/item/items.ts';
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
import type { ItemOf, JobClient, PawlClient } from '../pawl-client.ts';
import { workOrLeave } from '../view/follow.ts';
import { itemShape } from '../view/json.ts';
import { printPairs } from '../view/table.ts';
import { ago, count, cut, cutPath, exactTime, number, printable } from '../view/wording.ts';

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
    corpus: { type: 'string', value: 'NAME', meaning: 'only documents of this corpus' },
    all: { type: 'boolean', meaning: 'all documents in the inbox' },
    ...consentOption,
  },
  examples: ['pawl inbox', 'pawl inbox show 14', 'pawl inbox retry --cause source_missing'],
  run: chooseAction('inbox', { list, show, retry, discard }),
};

const shownOfCause = 5;

async function list(call: Call): Promise<number> {
  const { terminal, flags, isJson } = call;
  const filter = filterOf(call);
  return withStore(call, async (pawl) => {
    const causes = (await pawl.causes(textOf(flags, 'corpus'))).filter(
      ({ code }) => filter.cause === undefined || code === filter.cause,
    );
    if (isJson) {
      const shapes = [];
      for (const cause of causes) {
        const items = await pawl.inbox({ ...filter, cause: cause.code });
        shapes.push({ ...causeShape(cause), items: items.map(itemShape) });
      }
      terminal.print(JSON.stringify({ causes: shapes }));
      return exits.well;
    }
    const all = causes.reduce((sum, cause) => sum + cause.count, 0);
    terminal.print(all === 0 ? 'the inbox is empty' : `${count(all, 'document')} failed`);
    for (const cause of causes) {
      const limit = filter.cause === undefined ? shownOfCause : limits.request.pageItemsMax;
      const items = await pawl.inbox({ ...filter, cause: cause.code, limit });
      printCause(call, causeShape(cause), items);
    }
    return exits.well;
  });
}

function printCause(
  { terminal }: Call,
  cause: ReturnType<typeof causeShape>,
  items: readonly ItemOf[],
): void {
  const now = Date.now();
  const dim = (text: string): string => terminal.paint('dim', text);
  terminal.print();
  const head = `${terminal.paint(['bold', 'red'], cause.title)}  ${number(cause.count)}`;
  terminal.print(`${head}  ${dim(cause.cause)}`);
  terminal.print(cause.advice);
  const width = Math.max(...items.map(({ id }) => String(id).length)) + 1;
  for (const item of items) {
    const id = `#${item.id}`.padStart(width + 1);
    const source = cutPath(printable(item.source), terminal.columns() - width - 16);
    terminal.print(`  ${id}  ${source}  ${dim(ago(item.failed_at ?? now, now))}`);
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
function saidOfItem({ source, error }: ItemOf): string {
  const { message = '' }: Partial<ErrorRecord> = error === null ? {} : JSON.parse(error);
  return message.startsWith(`${source} `) ? message.slice(source.length + 1) : message;
}

async function show(call: Call, args: readonly string[]): Promise<number> {
  const id = readId(onlyArgument(args, 'item'));
  return withStore(call, async (pawl) => {
    const item = await pawl.item(id);
    if (call.isJson) call.terminal.print(JSON.stringify(itemShape(item)));
    else printItem(call, item, await pawl.jobOf(item));
    return exits.well;
  });
}

function printItem({ terminal }: Call, item: ItemOf, job: JobClient): void {
  const error: ErrorRecord | null = item.error === null ? null : JSON.parse(item.error);
  const at = (time: number): string => `${ago(time, Date.now())} (${exactTime(time)})`;
  printPairs(terminal, [
    ['item', `#${item.id}`],
    ['source', printable(item.source)],
    ['corpus', item.corpus],
    ['job', job.id],
    ['step', item.step],
    ...(error === null || item.failed_at === null
      ? []
      : ([
          ['failed', at(item.failed_at)],
          ['at step', `${error.step} (${error.stage}), attempt ${error.context.attempt}`],
          ['cause', `${terminal.paint('red', error.code)}, ${error.kind}`],
          ['said', printable(error.message)],
          ['what to do', failureOf(error.code).advice],
          ['actions', `pawl inbox retry ${item.id}, pawl inbox discard ${item.id}`],
        ] as const)),
  ]);
}

async function retry(call: Call, args: readonly string[]): Promise<number> {
  return withStore(call, async (pawl) => {
    const items = await chosenItems(call, pawl, args);
    if (items.length === 0) return tellNone(call);
    const after = await pawl.newestEvent();
    const retried = await pawl.retryItems(items.map(({ id }) => id));
    if (!call.isJson) call.terminal.print(`retrying ${count(retried, 'document')}`);
    let exit: number = exits.well;
    // The engine works on all jobs concurrently; only the progress is shown job by job.
    for (const item of new Map(items.map((each) => [each.job_id, each])).values()) {
      exit = Math.max(exit, await workOrLeave(call, pawl, await pawl.jobOf(item), { after }));
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
    const discarded = await pawl.discardItems(items.map(({ id }) => id));
    const sentence = `discarded ${count(discarded, 'document')}`;
    return answer(call, { discarded }, sentence);
  });
}

function tellNone(call: Call): number {
  return answer(call, { retried: 0, discarded: 0 }, 'no matching documents in the inbox');
}

/** The named items, those of a cause, or all. */
async function chosenItems(
  call: Call,
  pawl: PawlClient,
  args: readonly string[],
): Promise<ItemOf[]> {
  const filter = filterOf(call);
  const isAll = call.flags.all === true;
  const ways = [args.length > 0, filter.cause !== undefined, isAll].filter(Boolean).length;
  if (ways !== 1) throw usageError('name items, or add --cause CODE or --all');
  if (args.length > 0) {
    const items: ItemOf[] = [];
    for (const id of args.map(readId)) items.push(await pawl.item(id));
    return items;
  }
  const items: ItemOf[] = [];
  for (let page = await pawl.inbox(filter); page.length > 0; ) {
    items.push(...page);
    if (items.length >= limits.job.itemsMax) break;
    page = await pawl.inbox({ ...filter, after: page.at(-1)?.id ?? 0 });
  }
  return items;
}

function filterOf({ flags }: Call): { cause?: string; corpus?: string } {
  const cause = textOf(flags, 'cause');
  const corpus = textOf(flags, 'corpus');
  return { ...(cause !== undefined && { cause }), ...(corpus !== undefined && { corpus }) };
}

function readId(text: string): number {
  const id = Number(text.replace(/^#/, ''));
  if (Number.isSafeInteger(id) && id > 0) return id;
  throw usageError(`an item is a number, not ${text}`);
}
