/**
 * What the submitter submits. The text of a source at a version follows from their numbers alone,
 * and every paragraph carries both in one word: whatever the store shows can be judged from the
 * submitter's own list.
 */
import { limits } from '../../src/kernel/limits/limits.ts';

export const caller = 'chaos';
export const corpus = 'chaos';

export type SourceKind = 'inline' | 'file' | 'gated' | 'blank';

export interface SourceVersion {
  readonly source: number;
  readonly version: number;
}

export const sourceCount = 48;
/** It has no usable text, and always ends in the inbox. */
export const blankSource = 'source-0';

/** Most are inline; some are files, some share a domain's gate, and one has no usable text. */
export function kindOf(source: number): SourceKind {
  if (source === 0) return 'blank';
  if (source % 16 === 1) return 'gated';
  return source % 4 === 3 ? 'file' : 'inline';
}

export function markerOf({ source, version }: SourceVersion): string {
  return `source${source}version${version}`;
}

const markerPattern = /\bsource(\d+)version(\d+)\b/g;

/** The versions of which a text shows pieces, each once. */
export function versionsIn(text: string): number[] {
  return [...new Set([...text.matchAll(markerPattern)].map(([, , version]) => Number(version)))];
}

/** The source that a text comes from; -1 where it is none of ours. */
export function sourceIn(text: string): number {
  const [marker] = text.matchAll(markerPattern);
  return Number(marker?.[1] ?? -1);
}

/** The source with such a name, or such a file. */
export function sourceNamed(name: string): number {
  return Number(/source-(\d+)(?:\.md)?$/.exec(name)?.[1] ?? -1);
}

/** Several chunks, with a heading that opens each. */
export function textOf(content: SourceVersion): string {
  const marker = markerOf(content);
  const sections = 2 + ((content.source + content.version) % 3);
  const sentences = `The ${marker} tells of Ada Lovelace again. `.repeat(12).trim();
  const section = (_: unknown, index: number): string =>
    `## Part ${index} of ${marker}\n\n${sentences}`;
  return Array.from({ length: sections }, section).join('\n\n');
}

/** What a file holds: most have so much space at their end that their bytes are a blob. */
export function fileOf(content: SourceVersion): string {
  const isLarge = content.source % 16 !== 7;
  return textOf(content) + (isLarge ? '\n'.repeat(limits.document.rowBytesMax) : '');
}

/** The bytes of a file that comes with a version. */
export function uploadOf(version: number): string {
  return `${textOf({ source: 2, version })}\n`;
}
