/** `pawl corpora`: the searchable corpora. */
import type { Corpus, CorpusDetail, Document } from '../../contract/schema/schema.ts';
import { partlyReadBelow } from '../../kernel/text/kept-share.ts';
import { chooseAction, onlyArgument } from '../action.ts';
import { answer, type Call, type Command, centsOf, exits, withStore } from '../command.ts';
import { consentOption, hasConsent } from '../consent.ts';
import { allOf, entriesOf, type PawlClient } from '../pawl-client.ts';
import { costPairs } from '../view/cost.ts';
import { workOrLeave } from '../view/follow.ts';
import { printPairs, printTable } from '../view/table.ts';
import type { Terminal } from '../view/terminal.ts';
import {
  ago,
  agoExactly,
  bytes,
  count,
  cutPath,
  money,
  number,
  percent,
  printable,
} from '../view/wording.ts';
import { chunkingOptions, chunkingPairs, setChunking } from './corpus/chunking.ts';
import { removeDocuments } from './corpus/remove-documents.ts';
import { entityOptions, printEntities } from './entities.ts';
import { originOptions, showOrigins } from './origins.ts';
import { share, sharePairs, unshare } from './shares.ts';

export const corpora: Command = {
  name: 'corpora',
  summary: 'searchable corpora: list, show, share, reembed, chunking, remove documents, and more',
  usage: [
    'corpora [list]',
    'corpora show CORPUS',
    'corpora documents CORPUS [--partly-read]',
    'corpora entities CORPUS [--kind K] [--document ID | --with ENTITY] [--limit N]',
    'corpora reembed CORPUS [--budget-cents N]',
    'corpora chunking CORPUS [--tokens N] [--overlap N] [--default] [--budget-cents N]',
    'corpora budget CORPUS [--budget-cents N]',
    'corpora share CORPUS CALLER [--write]',
    'corpora unshare CORPUS CALLER',
    'corpora origins CORPUS [--accept [--yes]]',
    'corpora remove CORPUS DOCUMENT… [--yes]',
    'corpora delete CORPUS [--yes]',
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
    ...chunkingOptions,
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
    chunking: setChunking,
    budget: (call, args) => withCorpus(call, args, setBudget),
    share,
    unshare,
    origins: (call, args) => withCorpus(call, args, showOrigins),
    remove: removeDocuments,
    delete: (call, args) => withCorpus(call, args, deleteCorpus),
  }),
};

async function list(call: Call): Promise<number> {
  return withStore(call, async ({ ask }) => {
    const items = await allOf((query) => ask('GET /corpora', { query }));
    const none = items.length === 0 && 'no corpora';
    return answer(call, { items, next_cursor: null }, none || (() => printCorpora(call, items)));
  });
}

function printCorpora({ terminal }: Call, rows: readonly Corpus[]): void {
  printTable(
    terminal,
    ['CORPUS', '>DOCUMENTS', '>CHUNKS', '>TEXT', '>PARTLY READ', 'CHANGED'],
    rows.map((row) => [
      row.name,
      number(row.documents),
      number(row.chunks),
      bytes(row.text_bytes),
      number(row.documents_partly_read),
      row.updated_at === null ? '' : ago(row.updated_at),
    ]),
  );
}

function withCorpus(
  call: Call,
  args: readonly string[],
  use: (call: Call, corpus: CorpusDetail, pawl: PawlClient) => Promise<number>,
): Promise<number> {
  const name = onlyArgument(args, 'corpus');
  return withStore(call, async (pawl) =>
    use(call, await pawl.ask('GET /corpora/:name', { params: { name } }), pawl),
  );
}

async function show(call: Call, corpus: CorpusDetail): Promise<number> {
  const { model, next_model: next, budget_cents: budget, updated_at: changedAt } = corpus;
  const pairs = (): (readonly [string, string])[] => [
    ['corpus', corpus.name],
    ['documents', number(corpus.documents)],
    ...(corpus.documents_partly_read > 0
      ? [['partly read', number(corpus.documents_partly_read)] as const]
      : []),
    ['chunks', number(corpus.chunks)],
    ['text', bytes(corpus.text_bytes)],
    ...(model ? [['model', next ? `${model}, being replaced by ${next}` : model] as const] : []),
    ...chunkingPairs(corpus),
    ...costPairs(corpus),
    ...(budget === null ? [] : [['budget', money(budget)] as const]),
    ...sharePairs(corpus.shares),
    ['made', agoExactly(corpus.created_at)],
    ...(changedAt === null ? [] : [['changed', agoExactly(changedAt)] as const]),
  ];
  return answer(call, corpus, () => printPairs(call.terminal, pairs()));
}

/** Searches use the old model until the last document is embedded. */
async function reembed(call: Call, { name }: CorpusDetail, pawl: PawlClient): Promise<number> {
  const after = await pawl.newestEvent();
  const body = { budget_cents: centsOf(call.flags, 'budget-cents') };
  const { job_id } = await pawl.ask('POST /corpora/:name/reembed', { params: { name }, body });
  if (job_id !== null) return workOrLeave(call, pawl, await pawl.job(job_id), { after });
  return answer(call, { name }, `${name} has no documents`);
}

async function setBudget(call: Call, { name }: CorpusDetail, pawl: PawlClient): Promise<number> {
  const cents = centsOf(call.flags, 'budget-cents') ?? null;
  const body = { budget_cents: cents };
  const corpus = await pawl.ask('POST /corpora/:name/budget', { params: { name }, body });
  const sentence = `budget of ${name}: ${cents === null ? 'none' : money(cents)}`;
  return answer(call, corpus, sentence);
}

/** With `--json`, prints one document per line, because a corpus may be large. */
async function printDocuments(
  call: Call,
  { name }: CorpusDetail,
  { ask }: PawlClient,
): Promise<number> {
  const { terminal, isJson, flags } = call;
  const isPartlyRead = flags['partly-read'] === true;
  const rows: Document[] = [];
  const documents = entriesOf((query) =>
    ask('GET /corpora/:name/documents', {
      params: { name },
      query: { ...query, partly_read: isPartlyRead },
    }),
  );
  for await (const row of documents) {
    if (isJson) terminal.print(JSON.stringify(row));
    else rows.push(row);
  }
  if (isJson) return exits.well;
  rows.sort((one, other) => (one.source_url < other.source_url ? -1 : 1));
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

function documentCells(row: Document): string[] {
  return [
    cutPath(printable(row.title ?? ''), 40),
    cutPath(printable(row.source_url), 48),
    number(row.chunks),
    bytes(row.text_bytes),
    row.kept_share === null ? '' : percent(row.kept_share),
    number(row.generation),
    ago(row.updated_at),
  ];
}

function printPartlyRead(terminal: Terminal, rows: readonly Document[]): void {
  if (rows.length === 0) {
    terminal.print('no partly read documents');
    return;
  }
  printTable(
    terminal,
    ['>KEPT', 'SOURCE', 'WHY'],
    rows.map((row) => [
      percent(row.kept_share ?? 1),
      cutPath(printable(row.source_url), 60),
      printable(row.warnings.join(' ')),
    ]),
  );
  terminal.print();
  terminal.print(`${terminal.paint('dim', 'show what is missing')}  pawl extract SOURCE --dropped`);
}

async function deleteCorpus(
  call: Call,
  { name, documents }: CorpusDetail,
  pawl: PawlClient,
): Promise<number> {
  const question = `Delete ${name} with ${count(documents, 'document')}?`;
  if (!(await hasConsent(call, question))) return exits.error;
  const { deleted } = await pawl.ask('DELETE /corpora/:name', { params: { name } });
  const sentence = `deleted ${name} with ${count(deleted, 'document')}`;
  return answer(call, { name, deleted }, sentence);
}
