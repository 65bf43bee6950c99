/** `pawl corpora`: the searchable corpora. */
import type { CorpusRow, Spending } from '../../index.ts';
import { partlyReadBelow } from '../../kernel/text/kept-share.ts';
import { corpusShape } from '../../service/view/serializer.ts';
import { chooseAction, onlyArgument } from '../action.ts';
import { answer, type Call, type Command, centsOf, exits, withStore } from '../command.ts';
import { consentOption, hasConsent } from '../consent.ts';
import type { DocumentOf, PawlClient } from '../pawl-client.ts';
import { costLine, savedLine } from '../view/cost.ts';
import { workOrLeave } from '../view/follow.ts';
import { documentShape, spendingShape, warningsOfDocument } from '../view/json.ts';
import { printPairs, printTable } from '../view/table.ts';
import type { Terminal } from '../view/terminal.ts';
import {
  ago,
  bytes,
  count,
  cutPath,
  exactTime,
  money,
  number,
  percent,
  printable,
} from '../view/wording.ts';
import { entityOptions, printEntities } from './entities.ts';
import { originOptions, showOrigins } from './origins.ts';
import { share, sharePairs, shareShape, sharesOf, unshare } from './shares.ts';

export const corpora: Command = {
  name: 'corpora',
  summary:
    'searchable corpora: list, show, documents, entities, share, reembed, budget, origins, delete',
  usage: [
    'corpora [list]',
    'corpora show NAME',
    'corpora documents NAME [--partly-read]',
    'corpora entities NAME [--kind K] [--document ID | --with ENTITY] [--limit N]',
    'corpora reembed NAME [--budget-cents N]',
    'corpora budget NAME [--budget-cents N]',
    'corpora share NAME CALLER [--write]',
    'corpora unshare NAME CALLER',
    'corpora origins NAME [--accept [--yes]]',
    'corpora delete NAME [--yes]',
  ],
  options: {
    ...consentOption,
    ...originOptions,
    write: {
      type: 'boolean',
      meaning: 'also share write access: ingest, retry, delete documents',
    },
    'partly-read': {
      type: 'boolean',
      meaning: `only documents of which less than ${percent(partlyReadBelow)} was kept`,
    },
    ...entityOptions,
    'budget-cents': {
      type: 'string',
      value: 'N',
      meaning: 'budget of the job, or of the corpus; omit it to remove the budget of a corpus',
    },
  },
  run: chooseAction('corpora', {
    list,
    show: (call, args) => withCorpus(call, args, show),
    documents: (call, args) => withCorpus(call, args, printDocuments),
    entities: (call, args) => withCorpus(call, args, printEntities),
    reembed: (call, args) => withCorpus(call, args, reembed),
    budget: (call, args) => withCorpus(call, args, setBudget),
    share,
    unshare,
    origins: (call, args) => withCorpus(call, args, showOrigins),
    delete: (call, args) => withCorpus(call, args, remove),
  }),
};

async function list(call: Call): Promise<number> {
  return withStore(call, async (pawl) => {
    const rows: CorpusRow[] = [];
    for (let page = await pawl.corpora(); page.length > 0; ) {
      rows.push(...page);
      page = await pawl.corpora({ after: page.at(-1)?.name ?? '' });
    }
    const none = rows.length === 0 && 'no corpora';
    const shapes = rows.map(corpusShape);
    return answer(
      call,
      { items: shapes, next_cursor: null },
      none || (() => printCorpora(call, rows)),
    );
  });
}

function printCorpora({ terminal }: Call, rows: readonly CorpusRow[]): void {
  const now = Date.now();
  printTable(
    terminal,
    ['CORPUS', '>DOCUMENTS', '>CHUNKS', '>TEXT', '>PARTLY READ', 'CHANGED'],
    rows.map((row) => [
      row.name,
      number(row.documents),
      number(row.chunks),
      bytes(row.text_bytes),
      number(row.documents_partly_read),
      row.updated_at === null ? '' : ago(row.updated_at, now),
    ]),
  );
}

function withCorpus(
  call: Call,
  args: readonly string[],
  use: (call: Call, corpus: CorpusRow, pawl: PawlClient) => Promise<number>,
): Promise<number> {
  const name = onlyArgument(args, 'corpus');
  return withStore(call, async (pawl) => use(call, await pawl.corpus(name), pawl));
}

async function show(call: Call, corpus: CorpusRow, pawl: PawlClient): Promise<number> {
  const spent = await pawl.spending(corpus.name);
  const shares = await sharesOf(pawl, corpus.name);
  const shape = { ...corpusShape(corpus), ...spendingShape(spent), shares: shares.map(shareShape) };
  const at = (time: number): string => `${ago(time, Date.now())} (${exactTime(time)})`;
  const pairs = (): (readonly [string, string])[] => [
    ['corpus', corpus.name],
    ['documents', number(corpus.documents)],
    ...(corpus.documents_partly_read > 0
      ? [['partly read', number(corpus.documents_partly_read)] as const]
      : []),
    ['chunks', number(corpus.chunks)],
    ['text', bytes(corpus.text_bytes)],
    ...spendingPairs(spent),
    ...sharePairs(shares),
    ['made', at(corpus.created_at)],
    ...(corpus.updated_at === null ? [] : [['changed', at(corpus.updated_at)] as const]),
  ];
  return answer(call, shape, () => printPairs(call.terminal, pairs()));
}

function spendingPairs(spent: Spending): (readonly [string, string])[] {
  const { model, next_model: next, budget_cents: budget } = spent;
  const cost = {
    tokens: spent.tokens_in + spent.tokens_out,
    tokensUnpriced: spent.tokens_unpriced,
    costCents: spent.cost_cents,
    saved: { tokens: spent.tokens_saved, cents: spent.saved_cents },
  };
  return [
    ...(model ? [['model', next ? `${model}, being replaced by ${next}` : model] as const] : []),
    ...(cost.tokens > 0 ? [['cost', costLine(cost)] as const] : []),
    ...(cost.saved.tokens > 0 ? [['saved', savedLine(cost)] as const] : []),
    ...(typeof budget === 'number' ? [['budget', money(budget)] as const] : []),
  ];
}

/** Searches use the old model until the last document is embedded. */
async function reembed(call: Call, { name }: CorpusRow, pawl: PawlClient): Promise<number> {
  const after = await pawl.newestEvent();
  const job = await pawl.reembed(name, { budgetCents: centsOf(call.flags, 'budget-cents') });
  if (job) return workOrLeave(call, pawl, job, { after });
  return answer(call, { name }, `${name} has no documents`);
}

async function setBudget(call: Call, { name }: CorpusRow, pawl: PawlClient): Promise<number> {
  const cents = centsOf(call.flags, 'budget-cents') ?? null;
  await pawl.setCorpusBudget(name, cents);
  const sentence = `budget of ${name}: ${cents === null ? 'none' : money(cents)}`;
  return answer(call, { name, budget_cents: cents }, sentence);
}

async function* documentsOf(
  pawl: PawlClient,
  name: string,
  partlyRead: boolean,
): AsyncGenerator<DocumentOf> {
  for (let page = await pawl.documents(name, { partlyRead }); page.length > 0; ) {
    yield* page;
    page = await pawl.documents(name, { after: page.at(-1)?.id ?? '', partlyRead });
  }
}

/** With `--json`, prints one document per line, because a corpus may be large. */
async function printDocuments(call: Call, { name }: CorpusRow, pawl: PawlClient): Promise<number> {
  const { terminal, isJson, flags } = call;
  const isPartlyRead = flags['partly-read'] === true;
  const rows: DocumentOf[] = [];
  for await (const row of documentsOf(pawl, name, isPartlyRead)) {
    if (isJson) terminal.print(JSON.stringify(documentShape(row)));
    else rows.push(row);
  }
  if (isJson) return exits.well;
  rows.sort((one, other) => (one.source < other.source ? -1 : 1));
  if (isPartlyRead) printPartlyRead(terminal, rows);
  else printTable(terminal, documentColumns, rows.map(documentCells));
  return exits.well;
}

const documentColumns: readonly string[] = [
  'TITLE',
  'SOURCE',
  '>CHUNKS',
  '>TEXT',
  '>KEPT',
  '>GENERATION',
  'CHANGED',
];

function documentCells(row: DocumentOf): string[] {
  return [
    cutPath(printable(row.title ?? ''), 40),
    cutPath(printable(row.source), 48),
    number(row.chunk_count),
    bytes(row.text_bytes),
    row.kept_share === null ? '' : percent(row.kept_share),
    number(row.generation),
    ago(row.updated_at, Date.now()),
  ];
}

function printPartlyRead(terminal: Terminal, rows: readonly DocumentOf[]): void {
  if (rows.length === 0) {
    terminal.print('no partly read documents');
    return;
  }
  printTable(
    terminal,
    ['>KEPT', 'SOURCE', 'WHY'],
    rows.map((row) => [
      percent(row.kept_share ?? 1),
      cutPath(printable(row.source), 60),
      printable(warningsOfDocument(row).join(' ')),
    ]),
  );
  terminal.print();
  terminal.print(`${terminal.paint('dim', 'show what is missing')}  pawl extract SOURCE --dropped`);
}

async function remove(
  call: Call,
  { name, documents }: CorpusRow,
  pawl: PawlClient,
): Promise<number> {
  const question = `Delete ${name} with ${count(documents, 'document')}?`;
  if (!(await hasConsent(call, question))) return exits.error;
  const deleted = await pawl.deleteCorpus(name);
  const sentence = `deleted ${name} with ${count(deleted, 'document')}`;
  return answer(call, { name, deleted }, sentence);
}
