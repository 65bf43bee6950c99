/** `pawl corpora remove`: deletes single documents of a corpus. */
import { resolve } from 'node:path';
import type { Document } from '../../../contract/schema/schema.ts';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { answer, type Call, exits, usageError, withStore } from '../../command.ts';
import { hasConsent } from '../../consent.ts';
import type { PawlClient } from '../../pawl-client.ts';
import { count, printable } from '../../view/wording.ts';

/** All documents are found before the first one is deleted. */
export function removeDocuments(call: Call, args: readonly string[]): Promise<number> {
  const [name, ...named] = args;
  if (name === undefined || named.length === 0) {
    const how = 'Write `pawl corpora remove NAME DOCUMENT…`: sources or ids of documents.';
    throw usageError('name a corpus and at least one document', how);
  }
  return withStore(call, async (pawl) => {
    const corpus = await pawl.ask('GET /corpora/:name', { params: { name } });
    const found = new Map<string, Document>();
    for (const each of named) {
      const document = await findDocument(call, pawl, { corpus: corpus.name, named: each });
      found.set(document.document_id, document);
    }
    const documents = [...found.values()];
    const question = `Delete ${described(documents)} from ${corpus.name}?`;
    if (!(await hasConsent(call, question))) return exits.error;
    for (let from = 0; from < documents.length; from += atOnce) {
      const ids = documents.slice(from, from + atOnce).map(({ document_id }) => document_id);
      const asking = { params: { name: corpus.name }, body: { document_ids: ids } };
      await pawl.ask('POST /corpora/:name/documents/delete', asking);
    }
    const deleted = documents.map(({ document_id, source_url }) => ({ document_id, source_url }));
    const sentence = `deleted ${count(deleted.length, 'document')} from ${corpus.name}`;
    return answer(call, { name: corpus.name, deleted }, sentence);
  });
}

const atOnce = limits.request.deletedAtOnceMax;

function described(documents: readonly Document[]): string {
  const [only, ...others] = documents;
  if (only && others.length === 0) return printable(only.source_url);
  return count(documents.length, 'document');
}

interface Wanted {
  readonly corpus: string;
  /** The id of a document, or its source. */
  readonly named: string;
}

async function findDocument(
  call: Call,
  pawl: PawlClient,
  { corpus, named }: Wanted,
): Promise<Document> {
  const document = isId.test(named)
    ? await pawl.ask('GET /documents/:id', { params: { id: named } })
    : await bySource(call, pawl, { corpus, named });
  if (document?.corpus_name === corpus) return document;
  throw new Failure('document_unknown', `${corpus} has no document ${printable(named)}`, {
    context: { advice: `\`pawl corpora documents ${corpus}\` lists its documents.` },
  });
}

const isId = /^[0-9a-f]{32,64}$/;

/** A local path is resolved. A service knows a source by the name under which it was sent. */
async function bySource(
  { flags }: Call,
  { ask }: PawlClient,
  { corpus, named }: Wanted,
): Promise<Document | null> {
  const isName = /^(?:https?|inline|upload):/.test(named);
  const source = isName ? named : flags.url === undefined ? resolve(named) : `upload:${named}`;
  return (await ask('GET /why', { query: { corpus_name: corpus, url: source } })).document;
}
