/**
 * What a failed command prints on stderr: one line with the error and one with what to do, or with
 * `--json` one problem object. Results alone go to stdout.
 */
import { type Failure, type FailureCode, failures, toFailure } from '../kernel/failure/failure.ts';
import { exits } from './command.ts';

/** What was called, as far as it is known. */
export interface Called {
  readonly command?: string | undefined;
  readonly isJson: boolean;
  readonly isRemote?: boolean | undefined;
}

/** Returns the exit code. */
export function tellFailure(
  error: unknown,
  { command, isJson, isRemote }: Called,
  tell: (line: string) => void,
): number {
  const failure = toFailure(error);
  const { code, message } = failure;
  const advice = adviceOf(failure, { command, isRemote });
  if (isJson) {
    const { title, httpStatus: status } = failures[code];
    const type = `/docs#${code}`;
    tell(JSON.stringify({ type, title, status, detail: message, code, advice }));
  } else {
    tell(`pawl: ${message} (${code})`);
    tell(advice);
  }
  return usageCodes.has(code) ? exits.usage : exits.error;
}

/** The call itself is wrong: to repeat it would not help. */
const usageCodes: ReadonlySet<FailureCode> = new Set(['usage_error', 'corpus_name_invalid']);

/** The failure table speaks to all users. These name the command that helps. */
const adviceOfCommands: Partial<Record<FailureCode, string>> = {
  corpus_unknown:
    '`pawl corpora` lists the corpora. `pawl ingest SOURCE… --corpus NAME` creates one.',
  job_unknown: '`pawl jobs` lists the jobs.',
  item_unknown: '`pawl inbox` lists the failed documents with their numbers.',
  batch_task_unknown: '`pawl batch` lists the batch tasks.',
  document_unknown: '`pawl corpora documents NAME --json` lists the documents with their ids.',
  sources_empty: 'Name at least one URL, file, folder or glob, or use - for stdin.',
  unauthorized: 'Set PAWL_KEY to a key that the service accepts.',
};

function adviceOf(failure: Failure, { command, isRemote }: Omit<Called, 'isJson'>): string {
  const { code, context } = failure;
  if (typeof context.advice === 'string') return context.advice;
  if (code === 'usage_error') {
    const call = command === undefined ? 'pawl' : `pawl ${command}`;
    return `\`${call} --help\` shows what it takes.`;
  }
  if (isRemote && code === 'network_error') {
    return 'Check that the service runs at the address of --url, or start one with `pawl serve`.';
  }
  return adviceOfCommands[code] ?? failures[code].advice;
}
