/** The page docs/generated/library.md: everything that `import 'pawl'` offers. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TSchema } from 'typebox';
import { contract } from '../src/contract/contract.ts';
import * as batch from '../src/contract/operation/batch.ts';
import * as schema from '../src/contract/schema/schema.ts';
import * as sources from '../src/contract/schema/source.ts';
import { camelKey, type Described } from '../src/library/call/camel.ts';

const source = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../src/${path}`, import.meta.url)), 'utf8');

/** The schema of each type in src/library/views.ts. */
const views: Readonly<Record<string, TSchema>> = {
  JobSummary: schema.Job,
  JobDetail: schema.JobDetail,
  CancelReceipt: contract['POST /jobs/:id/cancel'].answer,
  Item: schema.Item,
  Event: schema.Event,
  Cause: schema.Cause,
  Corpus: schema.Corpus,
  CorpusDetail: schema.CorpusDetail,
  CorpusOrigins: schema.CorpusOrigins,
  Share: schema.Share,
  Document: schema.Document,
  Chunk: schema.Chunk,
  Entity: contract['GET /corpora/:name/entities'].answer.properties.items.items,
  RelatedEntity: contract['GET /corpora/:name/entities/:entity'].answer.properties.items.items,
  DocumentEntity: contract['GET /documents/:id/entities'].answer.properties.items.items,
  Hit: schema.Hit,
  Explanation: schema.Hit.properties.explanation,
  SearchResponse: contract['POST /search'].answer,
  Answer: schema.Answer,
  AnswerSentence: schema.AnswerSentence,
  Why: schema.Why,
  BatchTask: batch.BatchTask,
  SyncSource: sources.SyncSource,
  SyncRun: sources.SyncRun,
  SyncChange: sources.SyncChange,
  RemovedDocument: sources.RemovedDocument,
  SyncWebhook: sources.SyncWebhook,
};

/** Types in src/library/options.ts that take fields of the contract, and those they leave out. */
const requests: Readonly<Record<string, readonly [TSchema, readonly string[]]>> = {
  IngestOptions: [
    schema.NewJob,
    ['url', 'urls', 'documents', 'crawl', 'corpus_name', 'webhook_url'],
  ],
  SearchOptions: [schema.Search, ['corpus_name', 'query']],
  AskOptions: [schema.Question, ['corpus_name', 'question', 'stream']],
  JobFilter: [contract['GET /jobs'].query, ['corpus_name', 'cursor', 'limit']],
  InboxFilter: [contract['GET /inbox'].query, ['corpus_name', 'cursor', 'limit']],
  DocumentFilter: [contract['GET /corpora/:name/documents'].query, ['cursor', 'limit']],
  EntityFilter: [contract['GET /corpora/:name/entities'].query, ['limit']],
  BatchTaskFilter: [contract['GET /batch/tasks'].query, ['cursor', 'limit']],
  NewBatchTask: [batch.NewBatchTask, []],
  NewSource: [sources.NewSyncSource, ['corpus_name']],
  SourceChanges: [sources.SyncSourceUpdate, []],
  ChangeFilter: [contract['GET /sources/:name/runs/:run/changes'].query, ['cursor', 'limit']],
};

export function libraryPage(): string {
  const surface = source('library/surface.ts');
  const options = source('library/options.ts');
  checkComplete('views', views, source('library/views.ts'), /^export type (\w+)/gm);
  checkComplete(
    'requests',
    requests,
    options,
    /^export (?:type|interface) (\w+)[^;{]*(?:Filter<|<NewJob>|\w+Body\b|<batch\.|<BodyOf<)/gm,
  );
  const opening = source('app/options.ts').split('/** The names above')[0] ?? '';
  return [
    ...head,
    ...section(
      'Exports',
      signaturesOf(codeOf(source('index.ts'), 'export type { EmbedderSettings')),
    ),
    ...section('Options of `open`', codeOf(opening, 'export interface PawlOptions')),
    ...section('Calls', codeOf(surface, 'export interface Page<')),
    ...section('Options', codeOf(options, 'export interface SignalOptions')),
    ...section('Fields that options take from the contract', fieldsOf(requests)),
    ...section('Objects', objectsOf(views)),
  ].join('\n');
}

const head = [
  '# The library',
  '',
  '<!-- Generated from src/index.ts, src/library and the contract. Do not edit by hand. -->',
  '',
  'Everything that the package exports. [The guide](../guide/library.md) shows how to use it.',
  '',
];

function section(title: string, code: string): string[] {
  return [`## ${title}`, '', '```ts', code.trim(), '```', ''];
}

function codeOf(text: string, start: string): string {
  const at = text.indexOf(start);
  if (at < 0) throw new Error(`there is no ${JSON.stringify(start)} in the source`);
  const above = text.slice(0, at);
  // With the comment above it.
  const comment = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n$/.exec(above)?.[0] ?? '';
  return comment + text.slice(at);
}

/** Functions without their bodies. */
function signaturesOf(code: string): string {
  return code.replaceAll(/^(export (?:async )?function [^\n]*) \{\n[\s\S]*?^\}/gm, '$1;');
}

/** A type without its schema would be missing on the page. */
function checkComplete(name: string, table: object, text: string, pattern: RegExp): void {
  const declared = [...text.matchAll(pattern)].map(([, each = '']) => each).sort();
  const listed = Object.keys(table).sort();
  if (declared.join() === listed.join()) return;
  throw new Error(`${name} of scripts/library-page.ts: ${listed.join()}, not ${declared.join()}`);
}

function objectsOf(table: typeof views): string {
  return Object.entries(table)
    .map(([name, each]) => `interface ${name} ${typeOf(each, '')}`)
    .join('\n\n');
}

function fieldsOf(table: typeof requests): string {
  return Object.entries(table)
    .map(([name, [each, hidden]]) => {
      const { properties = {}, required = [] } = each as Described;
      const kept = Object.entries(properties).filter(([key]) => !hidden.includes(key));
      const lines = kept.map(([key, value]) => fieldOf(key, value, required.includes(key), '  '));
      return `interface ${name} {\n${lines.join('\n')}\n}`;
    })
    .join('\n\n');
}

function fieldOf(key: string, value: TSchema, isRequired: boolean, indent: string): string {
  const { description } = value as { description?: string };
  const comment = description === undefined ? '' : `${indent}/** ${description} */\n`;
  const name = /^\w+$/.test(key) ? camelKey(key) : JSON.stringify(key);
  return `${comment}${indent}${name}${isRequired ? '' : '?'}: ${typeOf(value, indent)};`;
}

interface Formed extends Described {
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** A schema as TypeScript. */
function typeOf(value: TSchema, indent: string): string {
  const form = value as Omit<Formed, 'type'> & { readonly type?: string | readonly string[] };
  if (form.enum) return form.enum.map((each) => JSON.stringify(each)).join(' | ');
  if (form.const !== undefined) return JSON.stringify(form.const);
  if (form.anyOf) return form.anyOf.map((each) => typeOf(each, indent)).join(' | ');
  if (Array.isArray(form.type)) return form.type.join(' | ');
  if (form.type === 'array') return `readonly ${wrapped(form.items, indent)}[]`;
  if (form.type === 'object') return objectOf(form as Formed, indent);
  if (form.type === 'integer') return 'number';
  return typeof form.type === 'string' ? form.type : 'unknown';
}

function wrapped(items: TSchema | undefined, indent: string): string {
  const text = items ? typeOf(items, indent) : 'unknown';
  return / \| /.test(text) && !text.startsWith('{') ? `(${text})` : text;
}

function objectOf(
  { properties, required = [], patternProperties }: Formed,
  indent: string,
): string {
  if (!properties) {
    const [each] = Object.values(patternProperties ?? {});
    return `{ [name: string]: ${each ? typeOf(each, indent) : 'unknown'} }`;
  }
  const lines = Object.entries(properties).map(([key, each]) =>
    fieldOf(key, each, required.includes(key), `${indent}  `),
  );
  return `{\n${lines.join('\n')}\n${indent}}`;
}
