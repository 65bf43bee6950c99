/** Schemathesis: requests made from the interface description, answers compared with it. */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { cached, runTool } from './cache.ts';
import { startService } from './service.ts';
import type { Outcome, Started, Target } from './target.ts';

const version = '4.32.5';
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'unsupported_method',
];
/** Streams do not end, and what a page of others answers is not Pawl's to decide. */
const excluded = '(stream|events|/scrape)';
const secondsMax = 300;

export const apiTarget: Target = { name: 'Schemathesis', version, start };

async function start(t: Cleanup): Promise<Started> {
  const home = cached(`schemathesis-${version}`, (folder) => {
    runTool('python3', ['-m', 'venv', folder]);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    runTool(join(folder, 'bin', 'python'), [...install, `schemathesis==${version}`]);
  });
  const { url } = await startService(t);
  const folder = temporaryDirectory(t);
  const run = async () => outcomeOf(join(home, 'bin', 'python'), url, folder);
  return { environment: {}, suites: [{ name: 'openapi.json', run }] };
}

function outcomeOf(python: string, url: string, folder: string): Outcome {
  const report = join(folder, 'report.xml');
  const args = [
    ...['-m', 'schemathesis.cli', 'run', `${url}/openapi.json`, '--checks', checks.join(',')],
    ...['--phases', 'examples,coverage,fuzzing', '--max-time', String(secondsMax)],
    ...['--request-timeout', '30', '--continue-on-failure', '--seed', '1', '--no-color'],
    ...['--exclude-path-regex', excluded, '--report', 'junit', '--report-junit-path', report],
  ];
  const { status, stdout, stderr } = spawnSync(python, args, { cwd: folder, encoding: 'utf8' });
  if (!existsSync(report)) throw new Error(`Schemathesis wrote no report:\n${stdout}${stderr}`);
  const cases = readFileSync(report, 'utf8').match(/<testcase\b.*?(?:\/>|<\/testcase>)/gs) ?? [];
  const failed = cases.filter((each) => /<(?:failure|error)\b/.test(each)).length;
  const detail = status === 0 ? {} : { detail: stdout };
  return { passed: cases.length - failed, failed, ...detail };
}
