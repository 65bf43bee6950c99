/** The search for planted secrets works, so that finding none means something. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../../src/kernel/failure/failure.ts';
import {
  assertNoCanary,
  type CanaryPlace,
  canaryPlaces,
  findCanaries,
  makeCanaries,
} from '../support/canary.ts';

const canaries = makeCanaries('seed-1');
const key = canaries.api_key;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const escaped = [...key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

const hidden: readonly [what: string, content: unknown, form: string][] = [
  ['a line of a log', `{"msg":"got ${key}"}`, 'text'],
  ['capitals', key.toUpperCase(), 'text'],
  ['its first 20 characters', `${key.slice(0, 20)}…`, 'text'],
  ['its last 12 characters', `…${key.slice(-12)}`, 'text'],
  ['percent signs', `/jobs?key=${escaped}`, 'text'],
  ['unicode escapes', escaped.replaceAll('%', '\\u00'), 'text'],
  ['base64', base64(key), 'base64'],
  ['base64 after one byte', base64(`:${key}`), 'base64'],
  ['base64 after two bytes', base64(`u:${key}:x`), 'base64'],
  ['hexadecimal digits', Buffer.from(`x${key}`).toString('hex'), 'hex'],
  ['bytes', Buffer.from(`x${key}x`), 'text'],
  ['the message of an error', new Error(`bad key ${key}`), 'text'],
  ['the cause of a failure', new Failure('unauthorized', 'no', { cause: { key } }), 'text'],
  ['the context of a failure', new Failure('bad_request', 'no', { context: { url: key } }), 'text'],
  ['a map', new Map([['a', { deep: [key] }]]), 'text'],
  ['the name of a field', { [key]: 1 }, 'text'],
  ['a field that is not enumerable', Object.defineProperty({}, 'a', { value: key }), 'text'],
  ['an address', new URL(`http://user:${key}@host/`), 'text'],
];

describe('the search for canaries', () => {
  for (const [what, content, form] of hidden) {
    test(`finds one in ${what}`, () => {
      const leaks = findCanaries(canaries, [{ where: 'here', content }]);
      assert.deepEqual(leaks, [{ where: 'here', place: 'api_key', form }]);
    });
  }

  test('distinguishes the twelve', () => {
    assert.equal(canaryPlaces.length, 12);
    for (const place of canaryPlaces) {
      const found = findCanaries(canaries, [{ where: place, content: canaries[place] }]);
      assert.deepEqual(
        found.map((leak): CanaryPlace => leak.place),
        [place],
      );
    }
  });

  test('finds nothing in clean output, and survives a circular value', () => {
    const circle: Record<string, unknown> = { text: 'cnry', hash: 'a1b2c3d4e5f60718'.repeat(4) };
    circle.self = circle;
    assert.deepEqual(findCanaries(canaries, [{ where: 'here', content: circle }]), []);
  });

  test('does not pass without output', () => {
    assert.throws(() => assertNoCanary(canaries, []), /there was no output to search/);
  });

  test('names the place and the encoding, and does not repeat the secret', () => {
    assert.throws(
      () => assertNoCanary(canaries, [{ where: 'the log', content: key }]),
      (error: Error) =>
        /api_key in the log, as text/.test(error.message) && !error.message.includes(key),
    );
  });

  test('is the same for a seed, and differs for another', () => {
    assert.deepEqual(makeCanaries('seed-1'), canaries);
    assert.notEqual(makeCanaries('seed-2').api_key, key);
  });
});
