/** Types, lint and format, tidiness, generated files: all in parallel, in seconds. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { runTestFile } from '../test/support/test-file.ts';

interface Outcome {
  readonly isOk: boolean;
  readonly output: string;
}

const outputBytesMax = 16 * 1024 * 1024;

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const checks: Readonly<Record<string, () => Promise<Outcome>>> = {
  types: () => runTool('tsc', ['--pretty', 'false']),
  'types of the workbench': () => runTool('tsc', ['--pretty', 'false', '-p', 'web']),
  'lint and format': () => runTool('biome', ['ci', '--colors=off', '--max-diagnostics=50']),
  tidy: () => runTest('test/tidy.test.ts'),
  'generated files': () => runTest('test/generated.test.ts'),
  'built workbench': () => runTest('test/web-build.test.ts'),
};

const verdicts = await Promise.all(Object.entries(checks).map(([name, run]) => report(name, run)));
process.exitCode = verdicts.every(Boolean) ? 0 : 1;

async function report(name: string, run: () => Promise<Outcome>): Promise<boolean> {
  const startedAt = performance.now();
  const { isOk, output } = await run();
  const time = `${((performance.now() - startedAt) / 1000).toFixed(2)} s`;
  const verdict = isOk ? styleText('green', 'ok    ') : styleText('red', 'failed');
  console.log(`${verdict} ${time.padStart(7)}  ${name}`);
  if (!isOk) console.log(output.trim().replace(/^/gm, '    '));
  return isOk;
}

function runTool(name: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { maxBuffer: outputBytesMax };
    execFile(`node_modules/.bin/${name}`, args, options, (error, stdout, stderr) => {
      const reason = typeof error?.code === 'string' ? `${error.message}\n` : '';
      resolve({ isOk: error === null, output: `${reason}${stdout}${stderr}` });
    });
  });
}

async function runTest(file: string): Promise<Outcome> {
  const { failures, output } = await runTestFile(file);
  const details = failures.map(({ name, detail }) => `${name}\n${detail}`);
  return { isOk: failures.length === 0, output: [...details, output].join('\n') };
}
