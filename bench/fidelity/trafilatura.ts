/** The Python package as a peer, in its own virtual environment in the cache folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cacheFolder, run } from './debian.ts';

export const trafilaturaVersion = '2.3.1';
/** Its dependency requires an extra of lxml that newer versions have renamed. */
const requirements = [`trafilatura==${trafilaturaVersion}`, 'lxml-html-clean==0.4.6'];
const script = fileURLToPath(new URL('../peers/trafilatura-peer.py', import.meta.url));

export interface Trafilatura {
  ask(question: { readonly html: string; readonly recall: boolean }): Promise<TrafilaturaResult>;
  close(): void;
}

export interface TrafilaturaResult {
  readonly markdown: string;
  readonly title: string;
  readonly ms: number;
}

/** Why it cannot be measured here, or undefined. */
export function installTrafilatura(tell: (line: string) => void): string | undefined {
  const folder = environment();
  if (existsSync(folder)) return undefined;
  tell(`installing trafilatura ${trafilaturaVersion} into ${folder}`);
  const parent = cacheFolder('python');
  rmSync(`${folder}.part`, { recursive: true, force: true });
  const problem =
    run('python3', ['-m', 'venv', `${folder}.part`], parent) ??
    run(`${folder}.part/bin/python`, ['-m', 'pip', 'install', '-q', ...requirements], parent) ??
    run(`${folder}.part/bin/python`, ['-c', 'import trafilatura'], parent);
  if (problem !== undefined) return problem;
  renameSync(`${folder}.part`, folder);
  return undefined;
}

function environment(): string {
  return join(cacheFolder('python'), `trafilatura-${trafilaturaVersion}`);
}

export function startTrafilatura(): Trafilatura {
  const stdio = ['pipe', 'pipe', 'inherit'] as const;
  const child: ChildProcess = spawn(`${environment()}/bin/python`, [script], { stdio: [...stdio] });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('trafilatura has no pipes');
  const answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    ask: async (question) => {
      if (!stdin.write(`${JSON.stringify(question)}\n`)) await once(stdin, 'drain');
      const { value, done } = await answers.next();
      if (done) throw new Error('trafilatura ended before it answered');
      return JSON.parse(value) as TrafilaturaResult;
    },
    close: () => stdin.end(),
  };
}
