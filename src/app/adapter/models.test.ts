import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestWorld } from '../../../test/support/test-world.ts';
import { type EmbedderSettings, embeddersFor, openaiUrl } from './models.ts';

test('a process is configured for a model that it can reach, and for the local one', async () => {
  const cases: readonly [EmbedderSettings, string, boolean][] = [
    [{ choice: 'local', url: openaiUrl }, 'text-embedding-3-small', false],
    [{ choice: 'local' }, 'text-embedding-3-small@8', false],
    [{ choice: 'local', url: openaiUrl, key: 'a-key' }, 'text-embedding-3-small', true],
    [{ choice: 'local', url: 'http://127.0.0.1:9/v1' }, 'some-model', true],
    [{ choice: 'openai:text-embedding-3-small', url: openaiUrl }, 'text-embedding-3-small', true],
    [{ choice: 'openai:text-embedding-3-small', url: openaiUrl }, 'another-model', false],
  ];
  for (const [settings, model, expected] of cases) {
    const embedders = embeddersFor(settings, new TestWorld());
    assert.equal(embedders.isConfigured(model), expected, JSON.stringify(settings));
    const { model: local } = embeddersFor({ choice: 'local' }, new TestWorld()).embedder;
    assert.equal(embedders.isConfigured(local), true);
    await embedders.close();
  }
});
