/** What the adapters for frameworks need of Pawl. */
import type { Hit, Pawl, SearchOptions } from '../index.ts';

export type Searching = Pick<Pawl, 'search'>;

export interface CorpusSearch extends SearchOptions {
  readonly corpus: string;
}

/** What a framework stores beside a passage: where it comes from. */
export interface PassageSource {
  readonly chunkId: string;
  readonly documentId: string;
  readonly source: string;
  readonly title: string | null;
  readonly heading: string;
  readonly page: number | null;
  readonly score: number;
}

export function sourceOf(hit: Hit): PassageSource {
  const { chunkId, documentId, sourceUrl: source, title, heading, page, score } = hit;
  return { chunkId, documentId, source, title, heading, page, score };
}
