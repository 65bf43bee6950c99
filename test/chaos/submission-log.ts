/**
 * The submitter's own list: what it intends to submit, written before, and what was acknowledged,
 * written after. The checks count from this list, never from the store.
 */
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { SourceVersion } from './workload.ts';

export type Entry =
  | { readonly kind: 'intent'; readonly contents: readonly SourceVersion[] }
  | {
      readonly kind: 'accepted';
      readonly jobKey: string;
      readonly itemIds: readonly number[];
      readonly contents: readonly SourceVersion[];
    }
  | { readonly kind: 'cancel' | 'pause'; readonly jobKey: string };

export interface Appender<Line> {
  append(line: Line): void;
  close(): void;
}

/** Each line is one write: a kill leaves it complete or absent. */
export function openLines<Line>(path: string): Appender<Line> {
  const file = openSync(path, 'a');
  return {
    append: (line) => void writeSync(file, `${JSON.stringify(line)}\n`),
    close: () => closeSync(file),
  };
}

export function readLines<Line>(path: string): Line[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}
