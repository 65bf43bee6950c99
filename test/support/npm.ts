/** npm as a user runs it: the one that started the tests, or the one on the PATH. */
import { execFileSync } from 'node:child_process';

export function npm(folder: string, ...args: readonly string[]): string {
  const own = process.env.npm_execpath;
  const [program, first] = own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []];
  return execFileSync(program, [...first, ...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
  });
}
