/** Python packages as peers, each set in a virtual environment of its own in the cache folder. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, run } from '../fidelity/debian.ts';

export interface PythonPeer {
  /** The name of the environment, with what tells versions apart. */
  readonly name: string;
  readonly requirements: readonly string[];
  /** It can be imported, or the installation has failed. */
  readonly module: string;
  readonly tell: (line: string) => void;
}

/** Why it cannot be measured here, or undefined. */
export function installPython(peer: PythonPeer): string | undefined {
  const { name, requirements, module, tell } = peer;
  const folder = environmentOf(name);
  if (existsSync(folder)) return undefined;
  tell(`installing ${requirements.join(', ')} into ${folder}`);
  const parent = cacheFolder('python');
  // An environment cannot be moved once it has programs: the files of a failed one are removed.
  const problem =
    run('python3', ['-m', 'venv', folder], parent) ??
    run(pythonProgram(name), ['-m', 'pip', 'install', '-q', ...requirements], parent) ??
    run(pythonProgram(name), ['-c', `import ${module}`], parent);
  if (problem !== undefined) rmSync(folder, { recursive: true, force: true });
  return problem;
}

/** The interpreter, or another program of the environment. */
export function pythonProgram(environment: string, program = 'python'): string {
  return join(environmentOf(environment), 'bin', program);
}

function environmentOf(name: string): string {
  return join(cacheFolder('python'), name);
}
