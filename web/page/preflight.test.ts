import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from '../../src/kernel/limits/limits.ts';
import { checkAddress, checkFiles, checkLines, corpusProblem, type Lane } from './preflight.ts';

const verdicts: readonly [line: string, verdict: string, note: RegExp][] = [
  ['https://example.org/a#part', 'ready', /ready/],
  ['example.org/a', 'ready', /ready/],
  ['not an address', 'refused', /without spaces/],
  ['ftp://example.org', 'refused', /only http and https/],
  ['https://', 'refused', /not an address/],
  ['https://user:word@example.org', 'refused', /name or a password/],
  ['intranet', 'refused', /full host name/],
  [`https://example.org/${'a'.repeat(3000)}`, 'refused', /too long/],
];

describe('before anything is sent', () => {
  for (const [line, verdict, note] of verdicts) {
    test(`${line.slice(0, 40)} is ${verdict}`, () => {
      const checked = checkAddress(line);
      assert.equal(checked.verdict, verdict);
      assert.match(checked.note, note);
    });
  }

  test('an address that is listed twice is sent once', () => {
    const checked = checkLines('https://a.org/x\n\n https://a.org/x#y \nhttps://a.org/z');
    assert.deepEqual(
      checked.map(({ verdict }) => verdict),
      ['ready', 'twice', 'ready'],
    );
  });

  test('a file that is empty, too large or listed twice is skipped', () => {
    const file = (path: string, size: number) => ({ path, file: { size, type: '' } as File });
    const files = [file('a', 5), file('a', 5), file('b', 0)];
    const large = file('c', limits.document.sourceBytesMax + 1);
    assert.deepEqual(
      checkFiles([...files, large], 'now').map(({ verdict }) => verdict),
      ['ready', 'twice', 'refused', 'refused'],
    );
  });

  test('a recording is accepted in the batch lane, and refused with a hint in the other', () => {
    const file = (path: string, type: string) => ({ path, file: { type, size: 5 } as File });
    const files = [file('talk.mp3', 'audio/mpeg'), file('talk.mp4', 'video/mp4'), file('a', '')];
    const verdicts = (lane: Lane) => checkFiles(files, lane).map(({ verdict }) => verdict);
    assert.deepEqual(verdicts('now'), ['refused', 'refused', 'ready']);
    assert.match(checkFiles(files, 'now')[0]?.note ?? '', /choose the batch lane/);
    assert.deepEqual(verdicts('cheap'), ['ready', 'ready', 'ready']);
  });

  test('equal base names in two folders are two documents, and hidden files are skipped', () => {
    const file = (path: string) => ({ path, file: { type: '', size: 5 } as File });
    const paths = [
      'd/a/_index.md',
      'd/b/_index.md',
      'd/.git/config',
      'd/node_modules/x.js',
      '.env',
    ];
    assert.deepEqual(
      checkFiles(paths.map(file), 'now').map(({ group }) => group),
      ['ready', 'ready', 'hidden', 'hidden', 'ready'],
    );
  });

  test('a corpus needs a valid name', () => {
    assert.equal(corpusProblem('hand-book.2'), undefined);
    assert.match(corpusProblem('') ?? '', /a name/);
    assert.match(corpusProblem('Hand Book') ?? '', /lowercase letters/);
  });
});
