import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { framesOf } from './frames.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('frames contain no folder of the machine', () => {
  const stack = [
    'Error: it quotes /home/ada/secret.txt',
    `    at run (file://${root}src/engine/loop.ts:12:3)`,
    `    at async file://${root}src/cli/main.ts:1:2`,
    `    at new Pool (${root}node_modules/pg/lib/index.js:7:7)`,
    '    at load (file:///srv/apps/node_modules/fastify/fastify.js:3:1)',
    '    at makeBatchProvider (file:///home/ada/plug-ins/acme.mjs:4:9)',
    String.raw`    at work (C:\Users\ada\pawl\tool.js:1:1)`,
    '    at async Promise.all (index 0)',
    '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
  ].join('\n');
  assert.deepEqual(framesOf(stack).split('\n'), [
    '    at run (src/engine/loop.ts:12:3)',
    '    at async src/cli/main.ts:1:2',
    '    at new Pool (node_modules/pg/lib/index.js:7:7)',
    '    at load (node_modules/fastify/fastify.js:3:1)',
    '    at makeBatchProvider (acme.mjs:4:9)',
    '    at work (tool.js:1:1)',
    '    at async Promise.all (index 0)',
    '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
  ]);
});

test('the stack of a real error shows where it was thrown', () => {
  const frames = framesOf(new Error('x').stack ?? '');
  assert.match(frames, /at .*src\/observe\/frames\.test\.ts:\d+:\d+/);
  assert.equal(frames.includes(root), false);
});
