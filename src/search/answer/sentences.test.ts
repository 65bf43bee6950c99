import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { citedText, SentenceReader } from './sentences.ts';

const read = (text: string, { passages = 3, size = 1 } = {}) => {
  const reader = new SentenceReader(passages);
  const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
  return [...pieces.flatMap((piece) => reader.add(piece)), ...reader.end()];
};

/** The text, its sentences, and their citations. */
const cases: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ['It opens at nine [1].', [['It opens at nine.', '1']]],
  [
    'It opens at nine. [1] It closes at five. [2][3]',
    [
      ['It opens at nine.', '1'],
      ['It closes at five.', '2,3'],
    ],
  ],
  [
    'It opens at nine [1, 2]. Closed on Sunday [2; 3].',
    [
      ['It opens at nine.', '1,2'],
      ['Closed on Sunday.', '2,3'],
    ],
  ],
  [
    'It opens at nine [7]. So they say.',
    [
      ['It opens at nine.', ''],
      ['So they say.', ''],
    ],
  ],
  ['It opens at nine [7][1][1].', [['It opens at nine.', '1']]],
  [
    '- Bread [1]\n- Salt [2]\n',
    [
      ['- Bread', '1'],
      ['- Salt', '2'],
    ],
  ],
  [
    'Version 3.5 costs 2.50 Euro [1]. Done [2].',
    [
      ['Version 3.5 costs 2.50 Euro.', '1'],
      ['Done.', '2'],
    ],
  ],
  [
    '营业时间是九点。[1]下午五点关门。[2]',
    [
      ['营业时间是九点。', '1'],
      ['下午五点关门。', '2'],
    ],
  ],
  ['An array[0] is empty [1].', [['An array is empty.', '1']]],
  ['   \n', []],
  ['[1] [2]', []],
];

describe('sentences of an answer', () => {
  for (const [text, expected] of cases) {
    test(`are the same in pieces of any size: ${JSON.stringify(text).slice(0, 50)}`, () => {
      for (const size of [1, 2, 5, 1000]) {
        const found = read(text, { size }).map(({ text: own, citations }) => [
          own,
          citations.join(),
        ]);
        assert.deepEqual(found, expected, `${size}`);
      }
    });
  }

  test('are supported only by a citation of a passage that was given', () => {
    const isSupported = (text: string) => read(text).map((sentence) => sentence.isSupported);
    assert.deepEqual(isSupported('One [1]. Two [4]. Three. Four [0].'), [
      true,
      false,
      false,
      false,
    ]);
  });

  test('come as soon as the next one has begun', () => {
    const reader = new SentenceReader(2);
    assert.deepEqual(reader.add('It opens at nine. '), []);
    assert.deepEqual(reader.add('[1'), []);
    assert.deepEqual(reader.add('] '), []);
    assert.deepEqual(
      reader.add('It').map(({ text, citations }) => [text, citations]),
      [['It opens at nine.', [1]]],
    );
  });

  test('are shown with their citations', () => {
    const shown = citedText({ text: 'It opens.', citations: [1, 3], isSupported: true });
    assert.equal(shown, 'It opens. [1][3]');
  });
});
