/** Programs that only the verification needs, installed once below node_modules/.cache. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../node_modules/.cache/verify', import.meta.url));

/** The folder of that name; `fill` is called for a new one, which counts only if it succeeds. */
export function cached(name: string, fill: (folder: string) => void): string {
  const home = join(root, name);
  if (existsSync(home)) return home;
  console.log(`Installing ${name}, once`);
  const folder = `${home}.part`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  fill(folder);
  renameSync(folder, home);
  return home;
}

/** Runs a program to its end, and returns its output. */
export function runTool(
  program: string,
  args: readonly string[],
  { cwd = root, env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): string {
  const options = { cwd, env: { ...process.env, ...env }, encoding: 'utf8' } as const;
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...options,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  const why = error?.message ?? `${stdout}${stderr}`.trim().slice(-2000);
  throw new Error(`${program} ${args.join(' ')}: ${why}`);
}
