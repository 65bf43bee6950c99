/** Shared by `pawl extract` and `pawl chunk`: reads sources and prints results in order. */
import { isAbsolute, relative, resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { Failure, failures, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Extracted } from '../../pipeline/extract/extract.ts';
import type { PreviewSource } from '../../pipeline/preview.ts';
import { expandSources, isUrl } from '../../source/sources.ts';
import { type Call, exits, usageError } from '../command.ts';
import { count, printable, saidOf } from '../view/wording.ts';

/** The document of a source, or its error. */
export type Previewed =
  | { readonly source: string; readonly extracted: Extracted }
  | { readonly source: string; readonly failure: Failure };

/** How many documents are read ahead of the one printed next. */
const aheadMax = 16;

/** Prints every source. Returns the exit code. */
export async function previewSources(
  call: Call,
  show: (source: string, extracted: Extracted) => void | Promise<void>,
  wanted: { readonly withDropped?: boolean } = {},
): Promise<number> {
  const { positionals, interrupt, config } = call;
  if (positionals.length === 0) throw usageError('name at least one source, or use - for stdin');
  const { allowHosts, browser, render } = config;
  const { assemblePreview } = await import('../../app/tools.ts');
  const { preview, close } = assemblePreview({ allowHosts, browser, render });
  const run = async (named: Named): Promise<Previewed> => {
    const { shown: source } = named;
    try {
      if ('failure' in named) return { source, failure: named.failure };
      return { source, extracted: await preview.extract(named.from, interrupt, wanted) };
    } catch (error) {
      return { source, failure: toFailure(error) };
    }
  };
  let total = 0;
  let failed = 0;
  try {
    for await (const result of inOrder(sourcesOf(positionals, interrupt), run)) {
      if (interrupt.aborted) return exits.interrupted;
      total += 1;
      const failure = 'failure' in result ? result.failure : await failureOf(result, show);
      if (interrupt.aborted) return exits.interrupted;
      if (failure) {
        failed += 1;
        showFailure(call, result.source, failure);
      }
    }
  } finally {
    await close();
  }
  if (failed > 0 && total > 1 && !call.isJson) {
    call.terminal.tell(`${failed} of ${count(total, 'source')} failed`);
  }
  return failed > 0 ? exits.someFailed : exits.well;
}

/** Printing may fail, too: a document may have more chunks than the limit. */
async function failureOf(
  { source, extracted }: Extract<Previewed, { extracted: Extracted }>,
  show: Parameters<typeof previewSources>[1],
): Promise<Failure | undefined> {
  try {
    await show(source, extracted);
    return undefined;
  } catch (error) {
    return toFailure(error);
  }
}

function showFailure({ terminal, isJson }: Call, source: string, failure: Failure): void {
  const { code, message } = failure;
  const { advice } = failures[code];
  if (isJson) {
    terminal.print(JSON.stringify({ source, error: { code, message, advice } }));
    return;
  }
  const said = printable(`${saidOf(source, message)} (${code})`);
  terminal.tell(`${terminal.paint('red', 'failed')}  ${said}`);
  terminal.tell(`        ${advice}`);
}

/** A source as the user named it. An invalid name fails alone. */
type Named = { readonly shown: string } & (
  | { readonly from: PreviewSource }
  | { readonly failure: Failure }
);

async function* sourcesOf(
  positionals: readonly string[],
  interrupt: AbortSignal,
): AsyncGenerator<Named> {
  const seen = new Set<string>();
  for (const input of positionals) {
    for (const named of await expand(input, interrupt)) {
      const key = 'from' in named ? named.from.source : named.shown;
      if (!seen.has(key)) yield named;
      seen.add(key);
    }
  }
}

async function expand(input: string, interrupt: AbortSignal): Promise<Named[]> {
  try {
    if (input === '-') {
      const bytes = await readStdin(interrupt);
      return [{ shown: input, from: { kind: 'bytes', source: input, bytes } }];
    }
    const sources = await expandSources([input]);
    return sources.map((from) => ({ shown: shownAs(from.source, input), from }));
  } catch (error) {
    return [{ shown: input, failure: toFailure(error) }];
  }
}

/** A path is shown as it was typed, absolute or relative. */
function shownAs(source: string, input: string): string {
  if (isUrl(input)) return source;
  if (source === resolve(input)) return input;
  return isAbsolute(input) ? source : relative(process.cwd(), source);
}

async function readStdin(interrupt: AbortSignal): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of addAbortSignal(interrupt, process.stdin)) {
    bytes += chunk.length;
    if (bytes > limits.document.sourceBytesMax) {
      const bound = limits.document.sourceBytesMax;
      throw new Failure('source_too_large', `stdin has more than ${bound} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Runs several tasks concurrently, and yields the results in the order of the inputs. */
async function* inOrder<In, Out>(
  inputs: AsyncIterable<In>,
  run: (input: In) => Promise<Out>,
): AsyncGenerator<Out> {
  const running: Promise<Out>[] = [];
  for await (const input of inputs) {
    running.push(run(input));
    if (running.length >= aheadMax) yield (await running.shift()) as Out;
  }
  for (const result of running) yield await result;
}
