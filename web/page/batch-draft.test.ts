import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bodyOf, type Kind, kindsOf, nothing, problemOf } from './batch-draft.ts';

const kinds = kindsOf([
  { provider: 'AZURE', task_types: ['transcription'], input: 'urls' },
  { provider: 'GEMINI', task_types: ['completion'], input: 'requests' },
  { provider: 'OPENAI', task_types: ['completion', 'embedding'], input: 'requests' },
  { provider: 'SARVAM', task_types: ['transcription'], input: 'urls' },
]);

const kindOf = (value: string): Kind => {
  const kind = kinds.find((each) => each.value === value);
  assert.ok(kind);
  return kind;
};

describe('the form of a batch task', () => {
  test('offers recordings per provider, and questions once', () => {
    assert.deepEqual(
      kinds.map(({ value }) => value),
      ['transcription AZURE', 'completion', 'embedding', 'transcription SARVAM'],
    );
  });

  test('creates a task from addresses', () => {
    const draft = { ...nothing, urls: 'https://a.org/one.wav\n\n https://a.org/two.wav ' };
    assert.deepEqual(bodyOf(kindOf('transcription AZURE'), { ...draft, language: ' en-GB' }), {
      task_type: 'transcription',
      provider: 'AZURE',
      urls: ['https://a.org/one.wav', 'https://a.org/two.wav'],
      language: 'en-GB',
    });
    const { models } = bodyOf(kindOf('transcription SARVAM'), { ...draft, models: 'saaras:v3' });
    assert.deepEqual(models, ['saaras:v3']);
  });

  test('creates a task from questions, each with the instruction', () => {
    const draft = { ...nothing, models: 'gpt-4o, gpt-4o-mini', inputs: 'Who?\nWhen?' };
    assert.deepEqual(bodyOf(kindOf('completion'), { ...draft, instruction: 'Be brief.' }), {
      task_type: 'completion',
      models: ['gpt-4o', 'gpt-4o-mini'],
      requests: [
        { custom_id: 'line-1', input: 'Who?', instruction: 'Be brief.' },
        { custom_id: 'line-2', input: 'When?', instruction: 'Be brief.' },
      ],
    });
  });

  test('names what is missing', () => {
    assert.match(problemOf(kindOf('transcription AZURE'), nothing) ?? '', /address/);
    assert.match(problemOf(kindOf('completion'), nothing) ?? '', /model/);
    const named = { ...nothing, models: 'gpt-4o' };
    assert.match(problemOf(kindOf('embedding'), named) ?? '', /line/);
    assert.equal(problemOf(kindOf('embedding'), { ...named, inputs: 'a' }), undefined);
  });
});
