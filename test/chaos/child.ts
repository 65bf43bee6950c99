/** Real processes that are started, watched and killed by pid. None outlives this one. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Message } from './program.ts';

export type Program = 'worker' | 'submitter';

export type Options = Readonly<Record<string, string | number | undefined>>;

export interface Child {
  readonly pid: number;
  readonly startedAt: number;
  /** The output of a failed process. */
  readonly errors: readonly string[];
  /** Errors that its engine reported and survived. */
  readonly remarks: readonly string[];
  /** Resolves with the first message of the kind, or undefined when the process ends before it. */
  first<Kind extends Message['kind']>(
    kind: Kind,
  ): Promise<(Message & { readonly kind: Kind }) | undefined>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<string>;
  hasEnded(): boolean;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function start(program: Program | 'batch-worker' | 'sync-worker', options: Options): Child {
  const args = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  const startedAt = Date.now();
  const file = fileURLToPath(new URL(`./${program}.ts`, import.meta.url));
  const child = fork(file, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  running.add(child);
  const errors: string[] = [];
  const remarks: string[] = [];
  const messages: Message[] = [];
  child.stderr?.on('data', (chunk) => errors.push(String(chunk).trim()));
  child.on('message', (message: Message) => {
    messages.push(message);
    if (message.kind === 'error') remarks.push(message.what);
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    running.delete(child);
    return String(signal ?? code);
  });
  return {
    pid: child.pid ?? 0,
    startedAt,
    errors,
    remarks,
    ended,
    hasEnded: () => !running.has(child),
    kill: (signal) => void child.kill(signal),
    first: (kind) => firstOf(child, messages, kind, ended),
  };
}

async function firstOf<Kind extends Message['kind']>(
  child: ChildProcess,
  messages: readonly Message[],
  kind: Kind,
  ended: Promise<string>,
): Promise<(Message & { readonly kind: Kind }) | undefined> {
  const isWanted = (message: Message): message is Message & { readonly kind: Kind } =>
    message.kind === kind;
  const known = messages.find(isWanted);
  if (known) return known;
  return new Promise((resolve) => {
    const listen = (message: Message): void => {
      if (!isWanted(message)) return;
      child.off('message', listen);
      resolve(message);
    };
    child.on('message', listen);
    void ended.then(() => resolve(messages.find(isWanted)));
  });
}
