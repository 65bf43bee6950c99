import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from './temporary.ts';
import { runTestFile } from './test-file.ts';

const busy = 'const end = process.cpuUsage().user + 50_000; while (process.cpuUsage().user < end);';

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
