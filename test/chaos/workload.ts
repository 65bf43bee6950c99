/**
 * The content that the submitter submits. The text of a source at a version follows from their
 * numbers alone, and every paragraph carries both in one word: everything the store shows can be
 * checked against the submitter's own list.
 */
import { createHash } from 'node:crypto';
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

/** The versions that a text contains, each once. */
export function versionsIn(text: string): number[] {
  return [...new Set([...text.matchAll(markerPattern)].map(([, , version]) => Number(version)))];
}

/** The source of a text; -1 if it is not from this workload. */
export function sourceIn(text: string): number {
  const [marker] = text.matchAll(markerPattern);
  return Number(marker?.[1] ?? -1);
}

/** The source with this name, or this file. */
export function sourceNamed(name: string): number {
  return Number(/source-(\d+)(?:\.md)?$/.exec(name)?.[1] ?? -1);
}

/** Several chunks, each opened by a heading. */
export function textOf(content: SourceVersion): string {
  const marker = markerOf(content);
  const sections = 2 + ((content.source + content.version) % 3);
  const sentences = `The ${marker} tells of Ada Lovelace again. `.repeat(12).trim();
  const section = (_: unknown, index: number): string =>
    `## Part ${index} of ${marker}\n\n${sentences}`;
  return Array.from({ length: sections }, section).join('\n\n');
}

/** The content of a file: most end in so much whitespace that their bytes are a blob. */
export function fileOf(content: SourceVersion): string {
  const isLarge = content.source % 16 !== 7;
  return textOf(content) + (isLarge ? noise : '');
}

/** Whitespace in so little order that it is too much for a row even when packed. */
const noise = noiseOf(limits.document.rowBytesMax);

function noiseOf(packedBytes: number): string {
  // One of three characters packs to more than a fifth of a byte.
  const bytes = createHash('shake256', { outputLength: 5 * packedBytes }).digest();
  return Array.from(bytes, (byte) => ' \t\n'[byte % 3]).join('');
}

/** The bytes of a file that comes with a version. */
export function uploadOf(version: number): string {
  return `${textOf({ source: 2, version })}\n`;
}
