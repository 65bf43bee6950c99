/**
 * Every measurement runs in its own process, so that none inherits another's heap or compiled code.
 * The request is its one argument, the response its last line, both JSON.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Reading } from './reading.ts';

export type ChildResponse =
  | { readonly readings: readonly Reading[] }
  | { readonly failure: string };

/** A hundred thousand documents, on a slow and busy machine. */
const timeoutMs = 1_200_000;
const errorCharactersMax = 2_000;

export async function ask(
  file: URL,
  request: object,
  nodeFlags: readonly string[] = [],
): Promise<ChildResponse> {
  const args = [...nodeFlags, fileURLToPath(file), JSON.stringify(request)];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  const output = { text: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output.text += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output.errors = (output.errors + chunk).slice(-errorCharactersMax);
  });
  const [code, signal] = await once(child, 'close');
  const last = output.text.trimEnd().split('\n').at(-1) ?? '';
  if (code === 0 && last.startsWith('[')) return { readings: JSON.parse(last) };
  const reason = output.errors.trim() || `no answer: ${last}`;
  return { failure: `ended with ${code ?? signal}: ${reason}` };
}

/** The child's side: measures, responds, and exits, even with open handles. */
export async function answer<Request>(
  measure: (request: Request) => Promise<readonly Reading[]>,
): Promise<never> {
  const readings = await measure(JSON.parse(process.argv[2] ?? '{}') as Request);
  await new Promise<void>((resolve) => {
    process.stdout.write(`${JSON.stringify(readings)}\n`, () => resolve());
  });
  process.exit(0);
}
