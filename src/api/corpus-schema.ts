/** The shapes of corpora and of what is in them. */
import Type, { type Static } from 'typebox';
import { Count as count, nullable, spent, time } from './schema-parts.ts';

export const Corpus = Type.Object({
  name: Type.String(),
  documents: count,
  chunks: count,
  text_bytes: count,
  created_at: time,
  updated_at: nullable(time),
});

export const CorpusDetail = Type.Object({
  ...Corpus.properties,
  model: nullable(Type.String({ description: 'Whose vectors are searched.' })),
  next_model: nullable(Type.String({ description: 'While the corpus is embedded anew.' })),
  ...spent,
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
  content_hash: Type.String(),
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
  passages: Type.Integer({ minimum: 0, description: 'In which both are named.' }),
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
export type Chunk = Static<typeof Chunk>;
export type CorpusDetail = Static<typeof CorpusDetail>;
