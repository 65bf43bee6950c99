/** The workflows of the repository: what they run exists, on the supported versions of Node. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { readRoot, root } from './deploy-files.ts';

interface Job {
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
  readonly 'timeout-minutes'?: number;
}

describe('the workflows', () => {
  const files = globSync('.github/workflows/*.yaml', { cwd: root });
  const read = (file: string) =>
    parse(readFileSync(join(root, file), 'utf8')) as { readonly jobs: Record<string, Job> };
  const jobs = files.flatMap((file) => Object.values(read(file).jobs));
  const { scripts, engines } = JSON.parse(readRoot('package.json')) as {
    readonly scripts: Readonly<Record<string, string>>;
    readonly engines: { readonly node: string };
  };

  test('run only scripts that exist', () => {
    const commands = jobs.flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
    const named = commands.flatMap((run) => [...run.matchAll(/npm run (\S+)|node (\S+\.ts)/g)]);
    for (const [, script, file] of named) {
      if (script) assert.ok(script in scripts, script);
      if (file) assert.ok(existsSync(join(root, file)), file);
    }
    assert.ok(commands.some((run) => run.includes('npm test')));
  });

  test('have a bound of time for each job, and a version for each action', () => {
    for (const job of jobs) {
      assert.ok(job['timeout-minutes']);
      for (const { uses } of job.steps) assert.match(uses ?? '@v1', /@v\d+$/);
    }
  });

  test('install the package on each supported line of Node', () => {
    const { package: packageJob } = read('.github/workflows/test.yaml').jobs;
    const { dependencies } = JSON.parse(readRoot('scripts/node/package.json'));
    const [, oldest = '', newest = ''] = /^\^(\d+\.\d+) \|\| >=(\d+)$/.exec(engines.node) ?? [];
    assert.equal(newest, dependencies.node.split('.')[0]);
    const [line = ''] = oldest.split('.');
    assert.deepEqual(packageJob?.strategy?.matrix.node, [oldest, line, `${newest}.0`, newest]);
  });
});
