/** The adapters for LangChain, LlamaIndex and the AI SDK, with the real packages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunnableLambda, RunnableSequence } from '@langchain/core/runnables';
import { MetadataMode } from '@llamaindex/core/schema';
import { generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { searchTool } from '../../src/framework/ai.ts';
import { PawlRetriever } from '../../src/framework/langchain.ts';
import { PawlRetriever as LlamaIndexRetriever } from '../../src/framework/llamaindex.ts';
import { open } from '../../src/index.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';

async function setup(t: Cleanup) {
  const pawl = await open({ data: temporaryDirectory(t) });
  t.after(() => pawl.close());
  const notes = [
    { id: 'tides', text: '# Tides\n\nThe moon moves the sea, twice a day.' },
    { id: 'bread', text: '# Bread\n\nFlour, water, salt and time.' },
  ];
  await (await pawl.ingest(notes, { corpus: 'notes' })).wait();
  return pawl;
}

test('a retriever of LangChain returns documents, also inside a chain', async (t) => {
  const retriever = new PawlRetriever({ pawl: await setup(t), corpus: 'notes', topK: 1 });
  const [document, ...others] = await retriever.invoke('What moves the sea?');
  assert.equal(others.length, 0);
  assert.match(document?.pageContent ?? '', /The moon moves the sea/);
  assert.equal(document?.metadata.heading, 'Tides');
  assert.equal(document?.id, document?.metadata.chunkId);
  const count = RunnableLambda.from((found: unknown[]) => found.length);
  assert.equal(await RunnableSequence.from([retriever, count]).invoke('bread'), 1);
});

test('a retriever of LlamaIndex takes a text or a message, and returns nodes', async (t) => {
  const retriever = new LlamaIndexRetriever({ pawl: await setup(t), corpus: 'notes', topK: 1 });
  const message = { query: [{ type: 'text', text: 'What moves the sea?' }] } as const;
  for (const asked of ['What moves the sea?', { query: [...message.query] }]) {
    const [found, ...others] = await retriever.retrieve(asked);
    assert.equal(others.length, 0);
    assert.match(found?.node.getContent(MetadataMode.NONE) ?? '', /The moon moves the sea/);
    assert.equal(found?.node.metadata.heading, 'Tides');
    assert.ok((found?.score ?? 0) > 0);
  }
});

test('a model of the AI SDK calls the tool, and gets the passages', async (t) => {
  const search = searchTool(await setup(t), { corpus: 'notes', topK: 1 });
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const finish = (unified: 'stop' | 'tool-calls') => ({ unified, raw: unified });
  let calls = 0;
  const model = new MockLanguageModelV4({
    doGenerate: async ({ tools }) => {
      assert.deepEqual(
        tools?.map(({ name }) => name),
        ['search'],
      );
      calls += 1;
      const input = JSON.stringify({ query: 'What moves the sea?' });
      return calls === 1
        ? {
            content: [{ type: 'tool-call', toolCallId: '1', toolName: 'search', input }],
            finishReason: finish('tool-calls'),
            usage,
            warnings: [],
          }
        : {
            content: [{ type: 'text', text: 'The moon.' }],
            finishReason: finish('stop'),
            usage,
            warnings: [],
          };
    },
  });
  const { text, steps } = await generateText({
    model,
    tools: { search },
    stopWhen: isStepCount(3),
    prompt: 'What moves the sea?',
  });
  assert.equal(text, 'The moon.');
  const [result] = steps[0]?.toolResults ?? [];
  assert.match(JSON.stringify(result?.output), /The moon moves the sea.*"heading":"Tides"/);
});
