/** Retrieval collections with their judgements, and their metrics. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export interface Collection {
  readonly name: string;
  readonly documents: readonly { readonly id: string; readonly text: string }[];
  readonly queries: readonly { readonly id: string; readonly text: string }[];
  /** Grades of documents by query. */
  readonly qrels: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export function readCollections(folder: string): Collection[] {
  if (!existsSync(folder)) {
    console.error(`there are no collections in ${folder}: name their folder with --data DIR`);
    process.exit(1);
  }
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json.gz'))
    .sort()
    .map((file) => {
      const content = JSON.parse(gunzipSync(readFileSync(join(folder, file))).toString());
      return { name: file.replace('.json.gz', ''), ...content };
    });
}

export type Grades = Readonly<Record<string, number>>;

/** Normalised discounted cumulative gain of the first ten. */
export function gainAt10(ranked: readonly string[], grades: Grades): number {
  const gain = (values: readonly number[]) =>
    values.slice(0, 10).reduce((sum, grade, place) => sum + grade / Math.log2(place + 2), 0);
  const ideal = gain(Object.values(grades).sort((a, b) => b - a));
  return ideal === 0 ? 0 : gain(ranked.map((id) => grades[id] ?? 0)) / ideal;
}

/** The share of the relevant documents that are among the first hundred. */
export function recallAt100(ranked: readonly string[], grades: Grades): number {
  const relevant = Object.keys(grades).filter((id) => (grades[id] ?? 0) > 0);
  const first = new Set(ranked.slice(0, 100));
  return relevant.length === 0
    ? 0
    : relevant.filter((id) => first.has(id)).length / relevant.length;
}
