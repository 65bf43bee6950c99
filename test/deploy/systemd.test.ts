/** The systemd units: systemd accepts them, and rates their exposure low. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { findExecutable } from '../support/server.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { readDeploy, root } from './deploy-files.ts';

const analyze = findExecutable('systemd-analyze');
const absent = 'systemd-analyze is not here; it comes with systemd';
/** Of ten; systemd calls less than two "OK", and a unit without hardening has 9.6. */
const exposureMax = 2.5;

/** The unit with the paths of this checkout, because systemd checks whether its program exists. */
function unitIn(t: TestContext, name: string, as = name): string {
  const text = readDeploy(`systemd/${name}`).replaceAll('/opt/pawl/', root);
  const path = join(temporaryDirectory(t), as);
  writeFileSync(path, text);
  return path;
}

describe('the units of systemd', () => {
  test('start programs that exist', () => {
    const [, env = '', program = ''] =
      /^ExecStart=(\S+) node (\S+) serve --role %i --no-sample$/m.exec(
        readDeploy('systemd/pawl@.service'),
      ) ?? [];
    for (const path of [env, program]) {
      assert.ok(existsSync(path.replace('/opt/pawl/', root)), path);
    }
    const gateway = readDeploy('systemd/pawl-gateway.service');
    assert.match(gateway, /-c \/etc\/pawl-gateway\/nginx\.conf -e stderr/);
  });

  for (const [name, as] of [
    ['pawl@.service', 'pawl@scraper.service'],
    ['pawl-gateway.service', 'pawl-gateway.service'],
  ] as const) {
    test(`${name} is valid, and has a low exposure`, (t) => {
      if (analyze === undefined) {
        t.skip(absent);
        return;
      }
      const path = unitIn(t, name, as);
      const verified = spawnSync(analyze, ['verify', '--man=no', path], { encoding: 'utf8' });
      const said = `${verified.stdout}${verified.stderr}`;
      const about = said.split('\n').filter((line) => line.includes(as));
      assert.deepEqual(about, [], said);
      const args = ['security', '--offline=true', '--no-pager', path];
      const { stdout } = spawnSync(analyze, args, { encoding: 'utf8' });
      const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
      assert.ok(exposure <= exposureMax, stdout);
    });
  }
});
