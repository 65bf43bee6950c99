/** The manual of corpora, documents and search. */
import type { Manual } from './manual.ts';
import {
  at,
  chunk,
  corpus,
  corpusDetail,
  document,
  documentId,
  hit,
  item,
  jobId,
  why,
} from './samples.ts';

const params = { name: 'handbook' };
const byDocument = { id: documentId };
const share = { caller_id: 'ann', name: 'ann', access: 'read', created_at: at };
const origin = { use: 'embed text-embedding-3-small', url: 'https://api.openai.com' };
const person = { kind: 'person', name: 'Ada Lovelace', mentions: 2 };

export const corporaManual: Readonly<Record<string, Manual>> = {
  'GET /corpora': {
    description:
      'Lists the corpora that you can search, by name, with the number of their documents. ' +
      'Shared corpora of other callers are listed as `NAME@CALLER`.',
    query: { limit: 50 },
    answer: { items: [corpus], next_cursor: null },
  },
  'GET /corpora/:name': {
    description: 'Shows one corpus: its size, its embedding model, its cost and your access.',
    params,
    answer: corpusDetail,
  },
  'POST /corpora/:name/budget': {
    description:
      'Sets what all jobs of a corpus may cost together. A job that would cost more is paused. ' +
      'Null removes the budget.',
    params,
    body: { budget_cents: null },
    answer: corpusDetail,
  },
  'POST /corpora/:name/reembed': {
    description:
      'Embeds a corpus again, with the embedding model that is configured now. Searches use the ' +
      'old vectors until every document has new ones. `job_id` is null if the corpus is empty.',
    params,
    body: { budget_cents: 250 },
    answer: { name: 'handbook', job_id: jobId },
  },
  'POST /corpora/:name/chunking': {
    description:
      'Sets the size of the chunks of a corpus, which are the passages that a search returns, ' +
      'and how much two neighbors overlap. Documents are split and embedded again in a job, from ' +
      'their stored text; each is searched as it was until its new chunks are complete. ' +
      '`job_id` is null if no document has to be split again.',
    params,
    body: { chunk_tokens: 400, chunk_overlap_tokens: 50 },
    answer: { name: 'handbook', chunk_tokens: 400, chunk_overlap_tokens: 50, job_id: jobId },
  },
  'GET /corpora/:name/origins': {
    description:
      'Shows which outside services have received text of a corpus, and which ones this process ' +
      'is configured to send text to.',
    params,
    answer: { name: 'handbook', recorded: [], configured: [origin] },
  },
  'POST /corpora/:name/origins': {
    description:
      'Permits that text of the corpus is sent to the services that this process is configured ' +
      'for. Without it, a changed address is refused.',
    params,
    answer: { name: 'handbook', recorded: [origin], configured: [origin] },
  },
  'GET /corpora/:name/entities': {
    description:
      'Lists the people, organizations, places and dates in a corpus, most frequent first.',
    params,
    query: { kind: 'person', limit: 20 },
    answer: { items: [{ ...person, documents: 1 }], next_cursor: null },
  },
  'GET /corpora/:name/entities/:entity': {
    description: 'Lists the entities that occur in the same passages as one entity.',
    params: { ...params, entity: 'Ada Lovelace' },
    query: { limit: 20 },
    answer: {
      items: [{ kind: 'location', name: 'London', passages: 1, documents: 1 }],
      next_cursor: null,
    },
  },
  'DELETE /corpora/:name': {
    description:
      'Deletes a corpus with all its documents, at once and for good. Only its owner may. A ' +
      'corpus with unfinished jobs is refused: cancel them first.',
    params,
    answer: { name: 'handbook', deleted: 1 },
  },
  'GET /corpora/:name/shares': {
    description: 'Lists the callers that a corpus of yours is shared with.',
    params,
    answer: { items: [share] },
  },
  'PUT /corpora/:name/shares/:caller': {
    description:
      'Lets another caller search a corpus (`read`), or also add to it and delete from it ' +
      '(`write`). The other caller uses the name `NAME@CALLER`.',
    params: { ...params, caller: 'ann' },
    body: { access: 'read' },
    answer: share,
  },
  'DELETE /corpora/:name/shares/:caller': {
    description: 'Ends the access of another caller to a corpus.',
    params: { ...params, caller: 'ann' },
    answer: { caller_id: 'ann', removed: true },
  },
  'GET /corpora/:name/documents': {
    description:
      'Lists the documents of a corpus. `warnings` says what of a document was not read; with ' +
      '`partly_read`, only such documents are listed.',
    params,
    query: { limit: 50, partly_read: false },
    answer: { items: [document], next_cursor: null },
  },
  'POST /corpora/:name/documents/delete': {
    description:
      'Deletes documents of a corpus, one after the other and for good. Ids that the corpus does ' +
      'not have are skipped, so a request that was interrupted can be repeated.',
    params,
    body: { document_ids: [documentId] },
    answer: { name: 'handbook', deleted: 1 },
  },
  'GET /documents/:id': {
    description:
      'Shows one document: where it came from, its title and size, and what was not read. Its ' +
      'text is in `GET /documents/:id/chunks`.',
    params: byDocument,
    answer: document,
  },
  'DELETE /documents/:id': {
    description: 'Deletes one document from its corpus, at once and for good.',
    params: byDocument,
    answer: { document_id: documentId, deleted: true },
  },
  'GET /documents/:id/raw': {
    description:
      'Returns the original of a document byte for byte, with its media type: a PDF, a web page, ' +
      'a text. Ranges are supported, and HEAD for the headers alone. Browsers may show a PDF, an ' +
      'image or plain text; all else is an attachment, and nothing in it is run.',
    params: byDocument,
    headers: { range: 'bytes=0-1023' },
    answer: 'The workshop opens at nine.',
  },
  'GET /documents/:id/outline': {
    description:
      'Lists the heading paths of a document in order, each with its first chunk, for a table of ' +
      'contents. `around` of `GET /documents/:id/chunks` reads the text of one.',
    params: byDocument,
    query: { limit: 50 },
    answer: {
      items: [
        {
          heading: 'Opening times',
          chunk_id: chunk.chunk_id,
          ordinal: 0,
          page: null,
          chunks: 1,
        },
      ],
      next_cursor: null,
    },
  },
  'GET /documents/:id/chunks': {
    description:
      'Reads the text of a document, as the chunks that are searched, in order. `start_offset` ' +
      'and `end_offset` are positions in the whole text.',
    params: byDocument,
    query: { limit: 50 },
    answer: { items: [chunk], next_cursor: null },
  },
  'GET /documents/:id/entities': {
    description: 'Lists the entities in a document, with their positions in its text.',
    params: byDocument,
    query: { kind: 'person', limit: 20 },
    answer: {
      items: [{ ...person, aliases: [], places: [{ start: 45, end: 57 }] }],
      next_cursor: null,
    },
  },
  'GET /documents/:id/items': {
    description: 'Lists every run of a document through the pipeline, newest first.',
    params: byDocument,
    query: { limit: 20 },
    answer: { items: [item], next_cursor: null },
  },
  'POST /search': {
    description:
      'Finds the passages of a corpus that fit a question or keywords, best first. Each result ' +
      'has the text of the passage, its document and its source, so that an answer can quote ' +
      'it. `GET /corpora` lists the corpora; `GET /why` explains why a document is not found.',
    body: { corpus_name: 'handbook', query: 'when does the workshop open', top_k: 3 },
    answer: {
      results: [hit],
      query_ms: 3.2,
      total: 1,
      facets: {},
      did_you_mean: null,
      reranked: null,
    },
  },
  'POST /ask': {
    description:
      'Lets the configured model answer a question from the passages that a search finds. Each ' +
      'sentence names its passages. If nothing is found, the model is not asked. With ' +
      '`"stream": true`, the answer comes as server-sent events: `passages`, then `sentence` for ' +
      'each sentence, then `done` with the whole answer; `problem` if it breaks off. A client ' +
      'that leaves ends the request to the model. The cost counts against your budget of the ' +
      'corpus.',
    body: { corpus_name: 'handbook', question: 'When does the workshop open?' },
    answer: {
      outcome: 'answered',
      answer: 'The workshop opens at nine. [1]',
      sentences: [{ text: 'The workshop opens at nine.', citations: [1], is_supported: true }],
      passages: [{ number: 1, ...hit }],
      model: 'gpt-4o-mini',
      is_cut: false,
      is_cached: false,
      tokens_in: 640,
      tokens_out: 12,
      cost_cents: 0.01,
      did_you_mean: null,
    },
  },
  'GET /why': {
    description:
      'Explains whether a document is searchable and, if not, what blocks it. With a `query`, ' +
      'also shows the passage of the document that fits it best, and its score.',
    query: { corpus_name: 'handbook', url: 'inline:welcome', query: 'workshop' },
    answer: why,
  },
};
