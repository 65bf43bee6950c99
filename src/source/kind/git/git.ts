/**
 * The `git` program of the system, without a shell, prompts, hooks or the configuration of users.
 * It is ended when its time is over, or its output is not needed any more.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Failure, type FailureCode } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';

export interface GitCall {
  readonly args: readonly string[];
  readonly signal: AbortSignal;
  /** Accepts any protocol of a repository on this machine or elsewhere; else none at all. */
  readonly protocols?: string | undefined;
}

const quiet = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'gc.auto=0'];

function environmentOf(protocols: string): NodeJS.ProcessEnv {
  const { PATH, HOME, SSH_AUTH_SOCK } = process.env;
  return {
    PATH,
    HOME,
    SSH_AUTH_SOCK,
    LC_ALL: 'C',
    GIT_ALLOW_PROTOCOL: protocols,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    SSH_ASKPASS: 'false',
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oConnectTimeout=20',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
  };
}

/** The output in pieces. Throws at its end if the program has failed. */
export async function* gitOutput({ args, signal, protocols = '' }: GitCall) {
  const child = spawn('git', [...quiet, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environmentOf(protocols),
    signal: AbortSignal.any([signal, AbortSignal.timeout(limits.sync.gitMs)]),
    killSignal: 'SIGKILL',
  });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told = (told + text).slice(-limits.sync.gitMessageCharactersMax);
  });
  const closed = once(child, 'close').catch((error: unknown) => error);
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    const result = await closed;
    if (result instanceof Error) throw spawnFailure(result, args);
    const [code] = result as [number | null];
    if (code !== 0) throw refusal(told, args);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Failure ? error : spawnFailure(error as Error, args);
  } finally {
    child.kill('SIGKILL');
    await closed;
  }
}

/** The whole output, up to a number of bytes. */
export async function gitBytes(call: GitCall, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of gitOutput(call)) {
    bytes += piece.length;
    if (bytes > bytesMax) {
      const message = `git ${call.args[0]} has more than ${bytesMax} bytes`;
      throw new Failure('source_too_large', message);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

export async function git(call: GitCall): Promise<string> {
  return (await gitBytes(call, limits.sync.gitAnswerBytesMax)).toString();
}

function spawnFailure(error: Error, args: readonly string[]): Failure {
  const { code, name } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') {
    const message = 'there is no git program: install git on the machine that runs Pawl';
    return new Failure('source_unreadable', message, { cause: error });
  }
  const isLate = name === 'AbortError' || name === 'TimeoutError';
  const why = isLate ? `took longer than ${limits.sync.gitMs} ms` : `failed (${code ?? name})`;
  return new Failure('source_unreadable', `git ${args[0]} ${why}`, { cause: error });
}

/** Of all that git says, the lines that begin with its marks; no user names of addresses. */
function refusal(told: string, args: readonly string[]): Failure {
  const lines = told.split('\n').filter((line) => /^(?:fatal|error|remote):/.test(line));
  const shown = (lines.length > 0 ? lines : [told]).join('; ').trim();
  const safe = shown.replace(/(:\/\/)[^/\s@]*@/g, '$1');
  return new Failure(codeOf(safe), `git ${args[0]} failed: ${safe || 'it said nothing'}`);
}

function codeOf(told: string): FailureCode {
  if (/certificate/i.test(told)) return 'certificate_invalid';
  const isMissing = /not found|does not exist|couldn't find remote ref|not appear to be a git/i;
  return isMissing.test(told) ? 'source_missing' : 'source_unreadable';
}
