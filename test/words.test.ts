/** Plain words: private vocabulary and old turns of phrase do not come back (docs/glossary.md). */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Each with the words that say it plainly. */
const banned: readonly [pattern: RegExp, instead: string][] = [
  [/\b(?:purses?|couriers?|parcels?|cutters?|brooms?|doorbells?)\b/i, 'the word of the glossary'],
  [/\bkeepers?\b/i, 'lease heartbeat, maintenance'],
  [/\bdoors?\b(?!\\)/i, 'client, API'],
  [/\bworkplaces?\b|\bseats?\b/i, 'step service, worker slot'],
  [/(?<![.|]|on|:)\bclick(?:s|ed)?\b(?![|(])/, 'commit'],
  [/\bwithout a forward cause\b/i, 'stuck'],
  [/\b(?:anew|whoever|whomever|whichever|whatever)\b/i, 'again; name who or what it is'],
  [/\b(?:to|for|by|from|of|with) who\b(?! which)/, 'name who it is'],
  [/(?:^|[.;:] |\* )Who (?!am|is|are|does|did|was)/, 'name who it is'],
  [/\b(?:is|are|was|were|be|been|being) told\b/i, 'gets, receives, is notified'],
  [/\bgo(?:es|ing)? on\b|\bwent on\b|\bgone on\b/i, 'continue'],
  [/\bthat (?:is|are|was|were) none\b/i, 'invalid, not a …'],
  [/\bat one stroke\b/i, 'atomically'],
  [/\bc[ao]mes? to nothing\b|\bwhat came of\b/i, 'fails; result'],
  [/\bwait(?:s|ed)? out\b/i, 'wait until'],
  [/\bha(?:s|ve) not the\b/i, 'does not have the'],
  [/\b(?:not|is|are|all) well\b/i, 'OK, failing'],
  [/\bleft out\b|\blooked at\b|\btaken back\b|\btakes? back\b/i, 'skipped, checked, removed'],
  [/\bknows? nothing of\b|\bno reason of that\b|\bto be rid of\b/i, 'say it plainly'],
  [/\bunder way\b|\bin the hands of\b|\bno longer ours\b/i, 'running, held by, lost'],
];

function findingsIn(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      banned
        .filter(([pattern]) => pattern.test(line))
        .map(([pattern, instead]) => `${index + 1}: ${pattern.exec(line)?.[0]} (say: ${instead})`),
    );
}

describe('the words of the project', () => {
  test('are plain in src/, docs/ and web/', () => {
    const paths = globSync('{src,docs,web}/**/*.{ts,tsx,md,css,html}', {
      cwd: root,
      // A migration keeps the names that the store had at its time.
      // The prompt is part of the key of paid answers: another word would buy them again.
      exclude: [
        '**/node_modules',
        'web/dist/**',
        'src/store/migration/**',
        'src/pipeline/entity/model-extractor.ts',
        // Words of other languages.
        'src/pipeline/word/stop-words.ts',
      ],
    });
    const found = paths.flatMap((path) =>
      findingsIn(readFileSync(join(root, path), 'utf8')).map((finding) => `${path}:${finding}`),
    );
    assert.deepEqual(found.sort(), []);
  });

  for (const [text, count] of [
    ['The worker is told that its lease is lost.', 1],
    ['// Whoever asks more than once pays.', 1],
    ['the job goes on where it stopped', 1],
    ['<button onClick={retry}>', 0],
    ['A commit signal wakes the dispatcher.', 0],
  ] as const) {
    test(`${count === 0 ? 'accept' : 'do not accept'} "${text}"`, () => {
      assert.equal(findingsIn(text).length, count);
    });
  }
});
