/** `pawl corpora`: what can be searched. */
import { createInterface } from 'node:readline/promises';
import type { CorpusRow } from '../index.ts';
import { Failure } from '../kernel/failure.ts';
import { chooseAction, onlyArgument } from './action.ts';
import { type Call, type Command, exits, usageError, withPawl, withStore } from './command.ts';
import type { DocumentOf, PawlDoor } from './door.ts';
import { entityOptions, printEntities } from './entities.ts';
import { corpusShape, documentShape } from './shape.ts';
import { printPairs, printTable } from './table.ts';
import { ago, bytes, count, cutPath, exactTime, number, printable } from './wording.ts';

export const corpora: Command = {
  name: 'corpora',
  summary: 'what can be searched: list, show, documents, entities, delete',
  usage: [
    'corpora [list]',
    'corpora show|documents NAME',
    'corpora entities NAME [--kind K] [--document ID | --with ENTITY] [--limit N]',
    'corpora delete NAME [--yes]',
  ],
  options: { yes: { type: 'boolean', meaning: 'delete without asking' }, ...entityOptions },
  run: chooseAction('corpora', {
    list,
    show: (call, args) => withCorpus(call, args, show),
    documents: (call, args) => withCorpus(call, args, printDocuments),
    entities: (call, args) => withCorpus(call, args, entities),
    delete: (call, args) => withCorpus(call, args, remove),
  }),
};

async function list(call: Call): Promise<number> {
  const { terminal, isJson } = call;
  return withStore(call, async (pawl) => {
    const rows = await pawl.corpora();
    if (isJson) {
      terminal.print(JSON.stringify({ items: rows.map(corpusShape), next_cursor: null }));
      return exits.well;
    }
    if (rows.length === 0) terminal.print('no corpora');
    else printCorpora(call, rows);
    return exits.well;
  });
}

function printCorpora({ terminal }: Call, rows: readonly CorpusRow[]): void {
  const now = Date.now();
  printTable(
    terminal,
    [
      { title: 'CORPUS' },
      { title: 'DOCUMENTS', align: 'right' },
      { title: 'CHUNKS', align: 'right' },
      { title: 'TEXT', align: 'right' },
      { title: 'CHANGED' },
    ],
    rows.map((row) => [
      row.name,
      number(row.documents),
      number(row.chunks),
      bytes(row.text_bytes),
      row.updated_at === null ? '' : ago(row.updated_at, now),
    ]),
  );
}

function withCorpus(
  call: Call,
  args: readonly string[],
  use: (call: Call, corpus: CorpusRow, pawl: PawlDoor) => Promise<number>,
): Promise<number> {
  const name = onlyArgument(args, 'corpus');
  return withStore(call, async (pawl) => {
    const corpus = (await pawl.corpora()).find((row) => row.name === name);
    if (corpus) return use(call, corpus, pawl);
    throw new Failure('corpus_unknown', `there is no corpus ${JSON.stringify(name)}`);
  });
}

async function entities(call: Call, corpus: CorpusRow): Promise<number> {
  if (call.flags.url !== undefined) {
    throw usageError('entities are read from the store: name it with --data instead of --url');
  }
  return withPawl(call, { work: false }, (pawl) => printEntities(call, corpus, pawl));
}

async function show({ terminal, isJson }: Call, corpus: CorpusRow): Promise<number> {
  if (isJson) {
    terminal.print(JSON.stringify(corpusShape(corpus)));
    return exits.well;
  }
  const at = (time: number): string => `${ago(time, Date.now())} (${exactTime(time)})`;
  printPairs(terminal, [
    ['corpus', corpus.name],
    ['documents', number(corpus.documents)],
    ['chunks', number(corpus.chunks)],
    ['text', bytes(corpus.text_bytes)],
    ['made', at(corpus.created_at)],
    ...(corpus.updated_at === null ? [] : [['changed', at(corpus.updated_at)] as const]),
  ]);
  return exits.well;
}

async function* documentsOf(pawl: PawlDoor, name: string): AsyncGenerator<DocumentOf> {
  for (let page = await pawl.documents(name); page.length > 0; ) {
    yield* page;
    page = await pawl.documents(name, { after: page.at(-1)?.id ?? '' });
  }
}

/** With `--json`, one document on each line: a corpus may be large. */
async function printDocuments(call: Call, { name }: CorpusRow, pawl: PawlDoor): Promise<number> {
  const { terminal, isJson } = call;
  const rows: DocumentOf[] = [];
  for await (const row of documentsOf(pawl, name)) {
    if (isJson) terminal.print(JSON.stringify(documentShape(row)));
    else rows.push(row);
  }
  if (isJson) return exits.well;
  const now = Date.now();
  rows.sort((one, other) => (one.source < other.source ? -1 : 1));
  printTable(
    terminal,
    [
      { title: 'TITLE' },
      { title: 'SOURCE' },
      { title: 'CHUNKS', align: 'right' },
      { title: 'TEXT', align: 'right' },
      { title: 'GENERATION', align: 'right' },
      { title: 'CHANGED' },
    ],
    rows.map((row) => [
      cutPath(printable(row.title ?? ''), 40),
      cutPath(printable(row.source), 48),
      number(row.chunk_count),
      bytes(row.text_bytes),
      number(row.generation),
      ago(row.updated_at, now),
    ]),
  );
  return exits.well;
}

async function remove(call: Call, { name, documents }: CorpusRow, pawl: PawlDoor): Promise<number> {
  const question = `delete ${count(documents, 'document')} of ${name}?`;
  if (!(await isConfirmed(call, question))) return exits.error;
  const deleted = await pawl.deleteCorpus(name);
  const sentence = `deleted ${count(deleted, 'document')} of ${name}`;
  call.terminal.print(call.isJson ? JSON.stringify({ name, deleted }) : sentence);
  return exits.well;
}

/** Somebody at a terminal is asked; a script has said what it wants. */
async function isConfirmed(call: Call, question: string): Promise<boolean> {
  if (call.flags.yes === true || call.isJson || !call.terminal.isAnswering) return true;
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt.question(`${question} [y/N] `, { signal: call.interrupt });
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}
