import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stemOf } from './porter.ts';

const samples: Readonly<Record<string, string>> = {
  caresses: 'caress',
  ponies: 'poni',
  agreed: 'agre',
  plastered: 'plaster',
  motoring: 'motor',
  hopping: 'hop',
  filing: 'file',
  happy: 'happi',
  relational: 'relat',
  sensibiliti: 'sensibl',
  triplicate: 'triplic',
  hopeful: 'hope',
  adjustment: 'adjust',
  adoption: 'adopt',
  probate: 'probat',
  controll: 'control',
  sky: 'sky',
  is: 'is',
  возврат: 'возврат',
};

for (const [word, stem] of Object.entries(samples)) {
  test(`the stem of ${word} is ${stem}`, () => assert.equal(stemOf(word), stem));
}
