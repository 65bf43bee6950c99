/** The schemas of corpora and their content. */
import type { Static } from 'typebox';
import { partlyReadBelow } from '../../kernel/text/kept-share.ts';
import { Metadata } from './metadata.ts';
import { Count as count, nullable, pageNumber, spent, time } from './parts.ts';
import { Type } from './type.ts';

export const Corpus = Type.Object({
  name: Type.String(),
  documents: count,
  documents_partly_read: Type.Integer({
    minimum: 0,
    description: `Documents with a \`kept_share\` below ${partlyReadBelow}.`,
  }),
  chunks: count,
  text_bytes: count,
  created_at: time,
  updated_at: nullable(time),
});

export const ShareAccess = Type.Union([Type.Literal('read'), Type.Literal('write')]);

export const Share = Type.Object({
  caller_id: Type.String(),
  name: nullable(Type.String({ description: 'The id from Membership or the list of keys.' })),
  access: ShareAccess,
  created_at: time,
});

export const CorpusDetail = Type.Object({
  ...Corpus.properties,
  model: nullable(Type.String({ description: 'The model whose vectors are searched.' })),
  next_model: nullable(
    Type.String({ description: 'The new model, while the corpus is embedded again.' }),
  ),
  chunk_tokens: Type.Integer({ description: 'The most tokens of a chunk.' }),
  chunk_overlap_tokens: Type.Integer({
    description: 'The most tokens that a chunk repeats of the one before it.',
  }),
  documents_to_chunk: Type.Integer({
    description: 'Documents that are still split by earlier values.',
  }),
  access: Type.Union([Type.Literal('own'), Type.Literal('write'), Type.Literal('read')], {
    description: 'The access rights of the caller.',
  }),
  shares: Type.Array(Share, {
    description: 'The callers that it is shared with; only shown to its owner.',
  }),
  word_analysis: Type.Optional(
    nullable(
      Type.Object(
        { documents_done: count, documents_total: count },
        { description: 'While older documents of the store are analyzed again; null otherwise.' },
      ),
    ),
  ),
  ...spent,
});

const originUse = Type.String({
  description: '`embed MODEL`, `entities`, `recordings`, `rerank` or `answers`.',
});
const originList = Type.Array(Type.Object({ use: originUse, url: Type.String() }));

export const CorpusOrigins = Type.Object({
  name: Type.String(),
  recorded: originList,
  configured: originList,
});

export const Document = Type.Object({
  document_id: Type.String(),
  corpus_name: Type.String(),
  source_url: Type.String(),
  title: nullable(Type.String()),
  language: nullable(Type.String()),
  generation: Type.Integer(),
  chunks: count,
  text_bytes: count,
  kept_share: nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'The share of the text that was kept: words outside the navigation of a web page, ' +
        `pages of a PDF, rows of a table. Below ${partlyReadBelow} the document counts as ` +
        'partly read. Null: it was read by a Pawl that did not measure this, and counts as ' +
        'fully read.',
    }),
  ),
  warnings: Type.Array(Type.String(), {
    description: 'Why some of the text was not read, in sentences.',
  }),
  content_hash: Type.String(),
  metadata: Metadata,
  meta: Type.Record(Type.String(), Type.Unknown(), {
    description: 'What the document says about itself, such as its `author` and `date`.',
  }),
  created_at: time,
  updated_at: time,
});

export const Chunk = Type.Object({
  chunk_id: Type.String(),
  ordinal: count,
  heading: Type.String(),
  text: Type.String(),
  start_offset: count,
  end_offset: count,
  tokens: count,
  page: pageNumber,
});

export const Section = Type.Object({
  heading: Type.String({ description: 'The heading path; empty before the first heading.' }),
  chunk_id: Type.String({ description: 'Its first chunk.' }),
  ordinal: count,
  page: pageNumber,
  chunks: count,
});

export const Entity = Type.Object({
  kind: Type.String(),
  name: Type.String(),
  mentions: count,
  documents: count,
});

export const RelatedEntity = Type.Object({
  kind: Type.String(),
  name: Type.String(),
  passages: Type.Integer({ minimum: 0, description: 'Passages that name both.' }),
  documents: count,
});

export const DocumentEntity = Type.Object({
  kind: Type.String(),
  name: Type.String(),
  mentions: count,
  aliases: Type.Array(Type.String()),
  places: Type.Array(Type.Object({ start: count, end: count })),
});

export type Corpus = Static<typeof Corpus>;
export type Document = Static<typeof Document>;
export type RelatedEntity = Static<typeof RelatedEntity>;
export type Section = Static<typeof Section>;
export type Chunk = Static<typeof Chunk>;
export type CorpusDetail = Static<typeof CorpusDetail>;
export type Share = Static<typeof Share>;
export type ShareAccess = Static<typeof ShareAccess>;
