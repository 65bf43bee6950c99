import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { assertCpuMs } from '../../../test/support/measure.ts';
import { compileGlob, countWildcards } from './glob.ts';

/** The same as a regular expression, which is slow only for globs with many stars. */
function byExpression(glob: string): (text: string) => boolean {
  const source = glob.replace(/\*\*|[*?]|[^*?]+/g, (part) => {
    if (part === '**') return '[^]*';
    if (part === '*') return '[^/]*';
    return part === '?' ? '[^/]' : part.replace(/[\\^$.|+()[\]{}]/g, '\\$&');
  });
  const pattern = new RegExp(`^${source}$`);
  return (text) => pattern.test(text);
}

const seed = 20_240_917;
const few = (letters: string[], maxLength: number) =>
  fc.array(fc.constantFrom(...letters), { maxLength }).map((parts) => parts.join(''));

describe('a compiled glob', () => {
  test(`matches as a regular expression does (seed ${seed})`, () => {
    const globs = few(['a', 'b', '/', '*', '**', '?', '.', 'ä'], 8);
    const texts = few(['a', 'b', '/', '.', 'ä'], 12);
    fc.assert(
      fc.property(globs, texts, (glob, text) => {
        assert.equal(compileGlob(glob)(text), byExpression(glob)(text), `${glob} on ${text}`);
      }),
      { seed, numRuns: 20_000 },
    );
  });

  test('matches across word boundaries of the state bits', () => {
    for (const length of [30, 31, 32, 33, 63, 64, 65, 200]) {
      const text = 'x'.repeat(length);
      assert.equal(compileGlob(`*${text}`)(`ab${text}`), true, `${length}`);
      assert.equal(compileGlob(`*${text}`)(text.slice(1)), false, `${length}`);
      assert.equal(compileGlob(`?${text}*y`)(`a${text}/y`), false, `${length}`);
      assert.equal(compileGlob(`?${text}**y`)(`a${text}/y`), true, `${length}`);
    }
  });

  test('with 500 stars takes linear time', () => {
    const texts = [`/${'a'.repeat(8000)}`, `/${'a/'.repeat(4000)}`];
    const globs = [`/${'*a'.repeat(499)}*b`, `**${'a*'.repeat(490)}**b`, `${'**/'.repeat(300)}b`];
    assertCpuMs(500, () => {
      for (const glob of globs) {
        const matches = compileGlob(glob);
        for (const text of texts) assert.equal(matches(text), false);
      }
    });
  });

  test('counts its wildcards', () => {
    assert.deepEqual(['/a', '/*', '/**', '/***', '?*?'].map(countWildcards), [0, 1, 1, 2, 3]);
  });
});
