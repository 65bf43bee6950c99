/** Truncated, bit-flipped and spliced samples: the result is a text or a failure, nothing else. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { patience } from '../../../../test/support/patience.ts';
import { Failure } from '../../../kernel/failure/failure.ts';
import { mediaTypeOf } from '../../fetch/http/media-type.ts';
import { parse } from './parse.ts';

const samples = join(import.meta.dirname, '../../../../test/samples/format');
const never = new AbortController().signal;
const seed = Number(process.env.PAWL_SEED ?? randomInt(2 ** 31));

/** OCR is slow, so pictures are damaged less often. */
const rounds = { quick: 60, pdf: 12, slow: 3 };
const slow = /^(?:notice|scan)/;

type Chance = (below: number) => number;

/** A seeded random number generator. */
function chanceOf(start: number): Chance {
  let state = start >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39) >>> 0;
    return ((mixed ^ (mixed >>> 16)) >>> 0) % Math.max(below, 1);
  };
}

const damages: readonly ((bytes: Buffer, chance: Chance) => Buffer)[] = [
  (bytes, chance) => bytes.subarray(0, 1 + chance(bytes.length)),
  (bytes, chance) => {
    const flipped = Buffer.from(bytes);
    for (let count = 1 + chance(8); count > 0; count -= 1) {
      const place = chance(bytes.length);
      flipped[place] = (flipped[place] ?? 0) ^ (1 << chance(8));
    }
    return flipped;
  },
  (bytes, chance) => {
    const noisy = Buffer.from(bytes);
    for (let count = Math.ceil(bytes.length / 100); count > 0; count -= 1) {
      noisy[chance(bytes.length)] = chance(256);
    }
    return noisy;
  },
  (bytes, chance) => {
    const from = chance(bytes.length);
    const to = from + chance(bytes.length - from);
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  },
];

describe(`a damaged file gives text or a failure (PAWL_SEED=${seed})`, () => {
  for (const [place, name] of globSync('*', { cwd: samples }).sort().entries()) {
    if (name.endsWith('.expected')) continue;
    test(name, { timeout: patience.testMs }, async () => {
      const bytes = readFileSync(join(samples, name));
      const chance = chanceOf(seed + place * 7919);
      const quick = name.endsWith('.pdf') ? rounds.pdf : rounds.quick;
      const count = slow.test(name) ? rounds.slow : quick;
      for (let round = 0; round < count; round += 1) {
        const damage = damages[round % damages.length] ?? damages[0];
        await survives(name, damage?.(bytes, chance) ?? bytes);
      }
    });
  }
});

/** Parsed both as its detected type and as its original type. */
async function survives(name: string, bytes: Uint8Array): Promise<void> {
  const original = mediaTypeOf(name, readFileSync(join(samples, name))) ?? '';
  for (const mediaType of new Set([mediaTypeOf(name, bytes) ?? 'unknown', original])) {
    try {
      const { markdown } = await parse({ bytes, mediaType, source: name }, never);
      assert.ok(markdown.length > 0);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      assert.notEqual(error.code, 'internal_error');
    }
  }
}
