import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Convert } from 'typebox/value';
import { assertCpuMs } from '../../test/support/measure.ts';
import type { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { NewJob } from './schema/schema.ts';
import { validatorCompiler } from './validation.ts';

const place = { schema: NewJob, httpPart: 'body', method: '', url: '' };
const check = validatorCompiler(Convert)(place);

function refusal(body: unknown): string {
  const { error } = check(body) as { error?: Failure };
  return error?.message ?? 'nothing';
}

const many = <T>(entry: T, count: number = limits.job.itemsMax): T[] =>
  Array.from({ length: count }, () => entry);
const corpus_name = 's';
const fields = Object.fromEntries(many(0).map((_, index) => [`f${index}`, index]));

const rows: readonly [title: string, body: unknown, expected: RegExp][] = [
  [
    'half a million empty documents',
    { corpus_name, documents: many({}, 500_000) },
    /^the body at \/documents must not have more than 100000 items$/,
  ],
  [
    'a number after many addresses',
    { corpus_name, urls: [...many('http://a.example', 99_999), 1] },
    /^the body at \/urls\/99999 must be string$/,
  ],
  [
    'an unknown field in the last of many documents',
    { corpus_name, documents: [...many({ text: 'a' }, 99_999), { txt: 'a' }] },
    /^the body at \/documents\/99999\/txt is not a known field$/,
  ],
  [
    'no address of a crawl beside many documents',
    { documents: many({ text: 'a' }), crawl: {} },
    /^the body at \/crawl must have required properties url$/,
  ],
  [
    'very many unknown fields',
    { corpus_name, ...fields },
    /^the body at \/f0 is not a known field$/,
  ],
  [
    'very many fields where a text should be',
    { corpus_name: fields },
    /^the body does not fit its schema$/,
  ],
  [
    'an unknown field with a name of a megabyte',
    { corpus_name, [`\u0000${'x'.repeat(1_000_000)}`]: 1 },
    /^the body at \/… is not a known field$/,
  ],
];

describe('a body that does not match its schema', () => {
  for (const [title, body, expected] of rows) {
    test(`with ${title} is refused fast`, () => {
      assertCpuMs(limits.loop.stallMs, () => assert.match(refusal(body), expected));
    });
  }

  test('is refused with the path of the wrong value', () => {
    assert.match(refusal({ corpus_name: 'UPPER' }), /\/corpus_name must be a corpus name: 1 to/);
    assert.match(refusal({ corpus_name, urls: [] }), /\/urls must not have fewer than 1 items$/);
    assert.match(refusal({ corpus_name, documents: [{ id: 1 }] }), /\/documents\/0\/id must be/);
    assert.match(refusal([]), /^the body must be object$/);
  });
});
