/** Front matter is parsed on the event loop: hostile text must not take long there. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertCpuMs } from '../../../../../test/support/measure.ts';
import { limits } from '../../../../kernel/limits/limits.ts';
import { readFrontMatter } from './front-matter.ts';

const { stallMs } = limits.loop;
const almostAll = 60_000;
const filled = (unit: string): string => unit.repeat(Math.ceil(almostAll / unit.length));
const among = (inner: string): string => `---\ntitle: A weir\n${inner}\n---\n\nThe heron waits.\n`;

const hostile: Readonly<Record<string, string>> = {
  'open keys in an open list': `a: [${filled('? ')}`,
  'open lists': `a: ${filled('[')}`,
  'open quotes': `"\na: ${filled('"')}`,
  'an ordered map': `a: !!omap [${filled('a: 1,')}]`,
  'unknown tags': filled('a: !!x b\n'),
  'tabs before keys': filled('\ta: 1\n'),
  'aliases of a list': `a: &a [1]\n${filled('b: *a\n')}`,
  'merged maps': filled('<<: {a: 1}\n'),
};

describe('front matter', () => {
  for (const [title, inner] of Object.entries(hostile)) {
    test(`with ${title} is read quickly, and its plain lines are kept`, () => {
      assertCpuMs(stallMs, () => {
        const { fields, body } = readFrontMatter(among(inner));
        assert.equal(fields.title, 'A weir');
        assert.equal(body, '\nThe heron waits.\n');
      });
    });
  }

  test('whose aliases unfold to far more than is written is read by its lines', () => {
    const levels = [...'abcdefgh'].map((name, level, names) => {
      const inner = level === 0 ? 'x' : `*${names[level - 1]}`;
      return `${name}: &${name} [${Array(9).fill(inner).join(', ')}]`;
    });
    const { fields } = readFrontMatter(among(levels.join('\n')));
    assert.equal(fields.title, 'A weir');
  });

  test('that is long is read by its lines', () => {
    const { fields, metadata } = readFrontMatter(among(`team: ops\nnotes:\n${filled('  - a\n')}`));
    assert.deepEqual(fields, { title: 'A weir', team: 'ops' });
    assert.deepEqual(metadata, { title: 'A weir', team: 'ops' });
  });

  test('that does not end soon is text', () => {
    const text = `---\n${filled('a: b\n')}${filled('a: b\n')}---\n`;
    assert.deepEqual(readFrontMatter(text), { fields: {}, body: text });
  });
});
