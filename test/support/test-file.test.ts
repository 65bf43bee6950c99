import assert from 'node:assert/strict';
import { executionAsyncId } from 'node:async_hooks';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Cleanup, temporaryDirectory } from './temporary.ts';
import { runTestFile } from './test-file.ts';

const busy = 'const end = process.cpuUsage().user + 50_000; while (process.cpuUsage().user < end);';

const uncaughtErrors = {
  'an error in a timer': `setTimeout(() => { throw new Error('lost'); });`,
  'a rejection that nothing handles': `Promise.reject(new Error('lost'));`,
};
const uncaught = 'uncaught error; last begun: errs';

/** Of which one test causes an error that no test awaits. */
function fileWith(t: Cleanup, body: string, end: string): string {
  const file = join(temporaryDirectory(t), 'errs.test.mjs');
  writeFileSync(
    file,
    `import { test } from 'node:test';
    import { setTimeout as pause } from 'node:timers/promises';
    test('errs', async () => {
      ${body}
      await pause(${end});
    });
    test('comes after it', () => {});`,
  );
  return file;
}

for (const [what, body] of Object.entries(uncaughtErrors)) {
  test(`${what} fails the test file, whose other tests run`, async (t) => {
    const { passed, failures } = await runTestFile(fileWith(t, body, '100'));
    assert.equal(passed, 2);
    assert.deepEqual(
      failures.map(({ name }) => name),
      [uncaught],
    );
    assert.match(failures[0]?.detail ?? '', /^Error: lost\n.*errs\.test\.mjs:/s);
  });
}

test('a test file that hangs after an uncaught error is ended', async (t) => {
  const file = fileWith(t, uncaughtErrors['an error in a timer'], '2 ** 30');
  const { failures } = await runTestFile(file, 100);
  assert.deepEqual(
    failures.map(({ name, detail }) => (name === file ? detail : name)),
    [uncaught, 'the file did not end after the uncaught error'],
  );
});

test('node:test does not follow the asynchronous operations of a test file', async () => {
  await undefined;
  // Promises have ids only while a hook follows them.
  assert.equal(executionAsyncId(), 0);
});

test('a program that a test file forks ends with an uncaught error', async (t) => {
  const program = join(temporaryDirectory(t), 'program.mjs');
  writeFileSync(program, `setTimeout(() => { throw new Error('lost'); });`);
  const [code] = await once(fork(program, { stdio: 'ignore' }), 'exit');
  assert.equal(code, 1);
});

test('a test file reports the CPU time that it and its processes took', async (t) => {
  const file = join(temporaryDirectory(t), 'busy.test.mjs');
  writeFileSync(
    file,
    `import { spawnSync } from 'node:child_process';
    import { test } from 'node:test';
    test('is busy', () => {
      ${busy}
      spawnSync(process.execPath, ['-e', ${JSON.stringify(busy)}]);
    });`,
  );
  const { passed, cpuSeconds = 0 } = await runTestFile(file);
  assert.equal(passed, 1);
  assert.ok(cpuSeconds >= 0.1, `${cpuSeconds} s`);
});
