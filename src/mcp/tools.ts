/**
 * The tools for a language model. Each is one route of the contract: the parameters of path, query
 * and body become one object, and the result is the response without noise. A tool cannot name
 * files of this machine, and none deletes for good: a run of a source removes documents whose files
 * are gone, which can be brought back.
 */
import type { TSchema } from 'typebox';
import { contract, type Route } from '../contract/contract.ts';
import { described } from '../contract/manual/describe.ts';
import { Failure } from '../kernel/failure/failure.ts';
import type { StoreRoute } from '../service/in-process.ts';
import { schemaWithoutNoise } from './noise.ts';

interface Row {
  readonly route: StoreRoute;
  readonly title: string;
  readonly description: string;
  /** The names of path parameters in the tool. */
  readonly params?: Readonly<Record<string, string>>;
  /** Fields of the request that a model may not set. */
  readonly hidden?: readonly string[];
  readonly isReadOnly: boolean;
  readonly isDestructive?: boolean;
}

export interface Tool extends Row {
  readonly input: Record<string, unknown>;
  readonly output: Record<string, unknown>;
}

const rows = {
  list_corpora: {
    route: 'GET /corpora',
    title: 'List corpora',
    description:
      'Lists the corpora that can be searched, with the number of their documents. Start here ' +
      'if you do not know the name of a corpus.',
    isReadOnly: true,
  },
  get_corpus: {
    route: 'GET /corpora/:name',
    title: 'Show a corpus',
    description: 'Shows one corpus: its size, its embedding model and its cost.',
    params: { name: 'corpus_name' },
    isReadOnly: true,
  },
  search: {
    route: 'POST /search',
    title: 'Search a corpus',
    description:
      'Finds the passages of a corpus that fit a question or keywords, best first. Each result ' +
      'has its text, title, heading and `source_url`: quote the source in answers. ' +
      '`read_document` returns the rest of a document.',
    isReadOnly: true,
  },
  ask: {
    route: 'POST /ask',
    title: 'Answer from a corpus',
    description:
      'Lets the configured model answer a question from the passages of a corpus, and names the ' +
      'passages for each sentence. It costs money where that model does; `search` returns the ' +
      'passages without it.',
    hidden: ['stream'],
    isReadOnly: true,
  },
  list_documents: {
    route: 'GET /corpora/:name/documents',
    title: 'List the documents of a corpus',
    description: 'Lists the documents of a corpus, with their titles and sources.',
    params: { name: 'corpus_name' },
    isReadOnly: true,
  },
  get_document: {
    route: 'GET /documents/:id',
    title: 'Show a document',
    description:
      'Shows one document: its source, title and size, and what of it was not read. ' +
      '`read_document` returns its text.',
    params: { id: 'document_id' },
    isReadOnly: true,
  },
  read_document: {
    route: 'GET /documents/:id/chunks',
    title: 'Read a document',
    description:
      'Returns the text of a document in order, chunk by chunk. Pass `next_cursor` as `cursor` ' +
      'to read on.',
    params: { id: 'document_id' },
    isReadOnly: true,
  },
  why: {
    route: 'GET /why',
    title: 'Why a document is, or is not, in the results',
    description:
      'Shows the status of a document, what keeps it out of the results, or its best passage ' +
      'for a query.',
    isReadOnly: true,
  },
  ingest: {
    route: 'POST /jobs',
    title: 'Add to a corpus',
    description:
      'Submits web addresses, texts or a site to a corpus, which is created if needed. Give ' +
      'exactly one of `urls`, `documents` and `crawl`. Returns a job immediately; `job_status` ' +
      'shows its progress.',
    hidden: ['url', 'webhook_url', 'priority', 'lane', 'budget_cents', 'max_wall_seconds'],
    isReadOnly: false,
  },
  job_status: {
    route: 'GET /jobs/:id',
    title: 'Status of a job',
    description:
      'Shows the progress of a job, its failures, their causes, and what to do about them.',
    params: { id: 'job_id' },
    isReadOnly: true,
  },
  list_jobs: {
    route: 'GET /jobs',
    title: 'List jobs',
    description: 'Lists jobs, newest first, optionally of one corpus or in one state.',
    isReadOnly: true,
  },
  list_failures: {
    route: 'GET /inbox',
    title: 'List failed documents',
    description: 'Lists the documents that failed, grouped by cause, with advice for each cause.',
    isReadOnly: true,
  },
  retry_job: {
    route: 'POST /jobs/:id/retry',
    title: 'Retry a job',
    description: 'Retries the failed and canceled documents of a job from where they stopped.',
    params: { id: 'job_id' },
    isReadOnly: false,
  },
  cancel_job: {
    route: 'POST /jobs/:id/cancel',
    title: 'Cancel a job',
    description: 'Cancels the unfinished documents of a job. Finished ones stay searchable.',
    params: { id: 'job_id' },
    isReadOnly: false,
    isDestructive: true,
  },
  list_sources: {
    route: 'GET /sources',
    title: 'List the sources of corpora',
    description:
      'Lists the folders and other places that corpora follow, with their state, their last run ' +
      'and when they were last in sync.',
    isReadOnly: true,
  },
  run_source: {
    route: 'POST /sources/:name/run',
    title: 'Run a source',
    description:
      'Compares a source with its corpus now: adds, updates, renames and removes documents as ' +
      'its files did. With `plan`, only counts what it would do. Returns the run immediately; ' +
      '`list_sources` shows its result.',
    params: { name: 'source' },
    hidden: ['cause'],
    isReadOnly: false,
    isDestructive: true,
  },
} as const satisfies Readonly<Record<string, Row>>;

export type ToolName = keyof typeof rows;

/** The tools with their schemas, by name. */
export function toolTable(): Readonly<Record<ToolName, Tool>> {
  const entries = Object.entries(rows).map(([name, row]) => [name, toolOf(row)]);
  return Object.fromEntries(entries);
}

function toolOf(row: Row): Tool {
  const route: Route = contract[row.route];
  return { ...row, input: inputOf(row, route), output: plain(schemaWithoutNoise(route.answer)) };
}

interface Fields {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
}

/** One object with the fields of path, query and body. */
function inputOf({ route: name, params = {}, hidden = [] }: Row, route: Route) {
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const part of [route.params, route.query, route.body]) {
    const { properties: fields = {}, required: needed = [] } = (part ?? {}) as Fields;
    for (const [field, schema] of Object.entries(fields)) {
      if (hidden.includes(field)) continue;
      const given = params[field] ?? field;
      properties[given] = schema;
      if (needed.includes(field)) required.push(given);
    }
  }
  const place = name === 'POST /search' ? 'Search' : name === 'POST /jobs' ? 'NewJob' : name;
  const schema = { type: 'object', properties, required, additionalProperties: false };
  return plain(described(schema, place));
}

/** The request that the arguments of a tool stand for. The route validates their values. */
export function requestOf(tool: Tool, given: Record<string, unknown>) {
  checkNames(tool.input, given);
  const { route: name, params = {} } = tool;
  const route: Route = contract[name];
  const left = { ...given };
  const path: Record<string, unknown> = {};
  for (const [field, shown] of Object.entries(params)) {
    path[field] = String(left[shown]);
    delete left[shown];
  }
  return { params: path, ...(route.body ? { body: left } : { query: left }) };
}

function checkNames({ properties = {}, required = [] }: Fields, given: object): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(properties, name)) continue;
    const known = Object.keys(properties).join(', ');
    throw new Failure('bad_request', `${name} is not a known argument; use ${known}`);
  }
  const missing = required.find((name) => !Object.hasOwn(given, name));
  if (missing) throw new Failure('bad_request', `the argument ${missing} is missing`);
}

function plain(schema: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema));
}
