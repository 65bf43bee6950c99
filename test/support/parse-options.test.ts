import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

const commands = [
  ['test/chaos/run.ts', 'services'],
  ['test/simulation/run.ts'],
  ['scripts/measure-package.ts'],
];

for (const command of commands) {
  test(`${command.join(' ')} refuses a wrong option in one line`, () => {
    const args = [...command, '--killz', '3'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root });
    assert.equal(status, 64, String(stderr));
    assert.match(String(stderr), /^Unknown option '--killz'\. Options: --\w.*\.\n$/);
    assert.equal(String(stdout), '');
  });
}
