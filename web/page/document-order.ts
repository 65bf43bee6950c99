/** Finds and sorts documents as people expect: any letter case, accents, and numbers by value. */
import type { Document } from '../../src/contract/schema/schema.ts';
import { shortSource } from '../part/wording.ts';

export const orders = [
  { value: 'stored', name: 'Not sorted' },
  { value: 'title', name: 'Title' },
  { value: 'newest', name: 'Newest first' },
  { value: 'largest', name: 'Largest first' },
] as const;

export type DocumentOrder = (typeof orders)[number]['value'];

type Arranged = Pick<Document, 'title' | 'source_url' | 'updated_at' | 'text_bytes'>;

/** "Ä" is sorted with "a", not after "z". */
const byName = new Intl.Collator(undefined, { sensitivity: 'base', numeric: true });

const nameOf = ({ title, source_url }: Arranged): string => title ?? shortSource(source_url);

const comparisons = {
  title: (one, other) => byName.compare(nameOf(one), nameOf(other)),
  newest: (one, other) => (one.updated_at < other.updated_at ? 1 : -1),
  largest: (one, other) => other.text_bytes - one.text_bytes,
} as const satisfies Record<string, (one: Arranged, other: Arranged) => number>;

export interface Arrangement {
  readonly find: string;
  readonly order: DocumentOrder;
}

export function arranged<Row extends Arranged>(
  documents: readonly Row[],
  { find, order }: Arrangement,
): readonly Row[] {
  const wanted = folded(find);
  const found = wanted === '' ? documents : documents.filter((each) => hasText(each, wanted));
  return order === 'stored' ? found : found.toSorted(comparisons[order]);
}

const hasText = ({ title, source_url }: Arranged, wanted: string): boolean =>
  folded(title ?? '').includes(wanted) || folded(source_url).includes(wanted);

/** Without letter case and accents. */
const folded = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
