/** Corpora and documents as MCP resources, which a person can attach to a conversation. */
import {
  type McpServer,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { Ask } from '../service/in-process.ts';
import { withoutNoise } from './noise.ts';

const { pageItemsMax, resourceCharactersMax } = limits.request;

export function addResources(server: McpServer, ask: Ask): void {
  const corpora = async () => (await ask('GET /corpora', { query: { limit: pageItemsMax } })).items;
  server.registerResource(
    'corpus',
    new ResourceTemplate('pawl://corpora/{name}', {
      list: async () => ({
        resources: (await corpora()).map(({ name, documents }) => ({
          uri: `pawl://corpora/${encodeURIComponent(name)}`,
          name,
          description: `A corpus with ${documents} documents`,
          mimeType: 'application/json',
        })),
      }),
      complete: {
        name: async (start) =>
          (await corpora()).map(({ name }) => name).filter((name) => name.startsWith(start)),
      },
    }),
    {
      title: 'A corpus',
      description: 'A corpus and its first documents, each with the address of its resource.',
      mimeType: 'application/json',
    },
    async (uri, variables) => {
      const name = textOf(variables.name);
      const text = JSON.stringify(await found(uri, () => readCorpus(ask, name)));
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] };
    },
  );
  server.registerResource(
    'document',
    new ResourceTemplate('pawl://documents/{document_id}', { list: undefined }),
    {
      title: 'A document',
      description: 'The text of a document. Search results have its `document_id`.',
      mimeType: 'text/markdown',
    },
    async (uri, variables) => {
      const id = textOf(variables.document_id);
      const text = await found(uri, () => readDocument(ask, id));
      return { contents: [{ uri: uri.href, mimeType: 'text/markdown', text }] };
    },
  );
}

async function readCorpus(ask: Ask, name: string): Promise<unknown> {
  const params = { name };
  const corpus = await ask('GET /corpora/:name', { params });
  const { items, next_cursor } = await ask('GET /corpora/:name/documents', { params });
  const documents = items.map((document) => ({
    uri: `pawl://documents/${document.document_id}`,
    ...document,
  }));
  return withoutNoise({ ...corpus, items: documents, next_cursor });
}

/** The text of a document, up to a limit. */
async function readDocument(ask: Ask, id: string): Promise<string> {
  const { title, source_url } = await ask('GET /documents/:id', { params: { id } });
  const pieces = [`${title ?? source_url}\nSource: ${source_url}`];
  let characters = 0;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: pageItemsMax, cursor };
    const page = await ask('GET /documents/:id/chunks', { params: { id }, query });
    for (const { text } of page.items) {
      characters += text.length;
      if (characters > resourceCharactersMax) {
        return [...pieces, 'Shortened here: the tool read_document returns the rest.'].join('\n\n');
      }
      pieces.push(text);
    }
    cursor = page.next_cursor;
  }
  return pieces.join('\n\n');
}

/** A missing corpus or document is the error that the protocol has for it. */
async function found<T>(uri: URL, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const isMissing = error instanceof Failure && /^(corpus|document)_unknown$/.test(error.code);
    throw isMissing ? new ResourceNotFoundError(uri.href, error.message) : error;
  }
}

function textOf(variable: string | string[] | undefined): string {
  const value = Array.isArray(variable) ? variable[0] : variable;
  return decodeURIComponent(value ?? '');
}
