/** The Python package as a peer, in its own virtual environment in the cache folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { installPython, pythonProgram } from '../peers/python.ts';

export const trafilaturaVersion = '2.3.1';
const name = `trafilatura-${trafilaturaVersion}`;
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
  return installPython({ name, requirements, module: 'trafilatura', tell });
}

export function startTrafilatura(): Trafilatura {
  const stdio = ['pipe', 'pipe', 'inherit'] as const;
  const child: ChildProcess = spawn(pythonProgram(name), [script], { stdio: [...stdio] });
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
