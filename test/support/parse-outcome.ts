/** Parses files as the pipeline would, and compares the result with the expected one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { parse } from '../../src/pipeline/extract/format/parse.ts';
import { mediaTypeOf } from '../../src/pipeline/fetch/http/media-type.ts';

const never = new AbortController().signal;

/** The markdown, or the code of the failure. Anything else is a defect. */
async function outcome(name: string, bytes: Uint8Array): Promise<string> {
  try {
    const mediaType = mediaTypeOf(name, bytes) ?? 'unknown';
    return (await parse({ bytes, mediaType, source: name }, never)).markdown;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { bound } = error.context;
    return bound === undefined ? error.code : `${error.code}(${bound})`;
  }
}

export type OutcomeRow = readonly [
  name: string,
  file: string,
  bytes: () => Uint8Array,
  expected: string | RegExp,
];

export function checkOutcomes(rows: readonly OutcomeRow[]): void {
  for (const [name, file, bytes, expected] of rows) {
    test(`${name}: ${expected}`, async () => {
      const found = await outcome(file, bytes());
      if (typeof expected === 'string') assert.equal(found, expected);
      else assert.match(found, expected);
    });
  }
}

/** The file with other bytes in it, of the same length or not. */
export function replaced(bytes: Buffer, from: string, to: string): Buffer {
  const text = bytes.toString('latin1');
  assert.ok(text.includes(from), from);
  return Buffer.from(text.replace(from, to), 'latin1');
}
