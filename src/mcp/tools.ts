/**
 * The tools for a language model: search, explain a document, show a job, submit addresses and
 * text. They cannot name files of this machine.
 */
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { type StdioServerHandle, serveStdio } from '@modelcontextprotocol/server/stdio';
import Type, { type Static, type TSchema } from 'typebox';
import type { PawlClient } from '../cli/pawl-client.ts';
import { CorpusName, Url } from '../contract/schema/parts.ts';
import { InlineDocument, Search } from '../contract/schema/schema.ts';
import { failures, toFailure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { inlineSource, urlSource } from '../source/sources.ts';

export function serveTools(pawl: PawlClient, onerror: (error: Error) => void): StdioServerHandle {
  return serveStdio(() => serverOf(pawl), { onerror });
}

interface Tool<Input extends TSchema> {
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly isReadOnly: boolean;
  run(pawl: PawlClient, input: Static<Input>): Promise<unknown>;
}

const tool = <Input extends TSchema>(row: Tool<Input>): Tool<Input> => row;
const closed = { additionalProperties: false } as const;

const tools = {
  search: tool({
    title: 'Search a corpus',
    description: 'Returns the best passages of a corpus for a query, each with its source.',
    input: Search,
    isReadOnly: true,
    run: async ({ ask }, body) => {
      const { results, total, facets, did_you_mean } = await ask('POST /search', { body });
      return { results, total, facets, did_you_mean };
    },
  }),
  ingest: tool({
    title: 'Add to a corpus',
    description:
      'Submits web addresses or texts to a corpus. Returns a job immediately; job_status ' +
      'shows its progress.',
    input: Type.Object(
      {
        corpus_name: CorpusName,
        urls: Type.Optional(Type.Array(Url, { maxItems: limits.request.pageItemsMax })),
        documents: Type.Optional(
          Type.Array(InlineDocument, { maxItems: limits.request.pageItemsMax }),
        ),
      },
      closed,
    ),
    isReadOnly: false,
    run: async (pawl, { corpus_name: corpus, urls = [], documents = [] }) => {
      const sources = [
        ...urls.map(urlSource),
        ...documents.map(({ source_url, ...document }) =>
          inlineSource({ ...document, sourceUrl: source_url }),
        ),
      ];
      const job = await pawl.submit(sources, { corpus });
      return { job_id: job.id, corpus_name: job.corpus, items_total: sources.length };
    },
  }),
  job_status: tool({
    title: 'Status of a job',
    description:
      'Shows the progress of a job, its failures, their causes, and what to do about them.',
    input: Type.Object({ job_id: Type.String({ minLength: 1, maxLength: 64 }) }, closed),
    isReadOnly: true,
    run: async (pawl, { job_id }) => (await pawl.job(job_id)).detail(),
  }),
  why: tool({
    title: 'Why a document is, or is not, in the results',
    description:
      'Shows the status of a document, what keeps it out of the results, or its best passage ' +
      'for a query.',
    input: Type.Object(
      {
        corpus_name: CorpusName,
        url: Type.String({ minLength: 1, maxLength: limits.job.sourceUrlCharactersMax }),
        query: Type.Optional(
          Type.String({ minLength: 1, maxLength: limits.search.queryCharactersMax }),
        ),
      },
      closed,
    ),
    isReadOnly: true,
    run: ({ ask }, query) => ask('GET /why', { query }),
  }),
};

function serverOf(pawl: PawlClient): McpServer {
  const server = new McpServer({ name: 'pawl', version: '1' }, { capabilities: { tools: {} } });
  for (const [name, row] of Object.entries(tools) as [string, Tool<TSchema>][]) {
    const { title, description, input, isReadOnly, run } = row;
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: fromJsonSchema(JSON.parse(JSON.stringify(input))),
        annotations: { readOnlyHint: isReadOnly },
      },
      (given: unknown) => answer(() => run(pawl, given)),
    );
  }
  return server;
}

/** A failure is a tool result as well: its code and its advice, without internal details. */
async function answer(run: () => Promise<unknown>) {
  try {
    return { content: [{ type: 'text' as const, text: JSON.stringify(await run()) }] };
  } catch (error) {
    const { code, message } = toFailure(error);
    const problem = { code, message, advice: failures[code].advice };
    return { content: [{ type: 'text' as const, text: JSON.stringify(problem) }], isError: true };
  }
}
