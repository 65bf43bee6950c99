/**
 * The program of a parser process: reads a document from stdin, writes the result to the fourth
 * descriptor, and repeats until stdin ends. Stdout is ignored, since libraries print there.
 */
import { Failure, toFailure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { Parsed, ParseInput, Parser } from '../parsed.ts';
import { type Frame, readFrame, writeFrame } from './frame.ts';
import { denyNetwork } from './guard.ts';
import { bodyOf, type ParserResponseHeader, type RequestHeader } from './message.ts';

const input = 0;
const output = 3;
const nothing = new Uint8Array();

denyNetwork();
const module = process.argv[2];
if (module === undefined) throw new Failure('internal_error', 'no parser was named');
const { parse } = (await import(module)) as { parse: Parser };
respond({ is: 'ready' }, nothing);
for (;;) {
  // Blocks the thread on purpose: between documents no parser code may run.
  const frame = readFrame(input);
  if (!frame) process.exit();
  await serve(frame);
}

async function serve({ header, body }: Frame): Promise<void> {
  try {
    const found = bodyOf(await parseOne({ ...(header as RequestHeader), bytes: body }));
    const { textBytes } = found.header;
    if (textBytes > limits.parser.textBytesMax) {
      const message = `its text has ${textBytes} of ${limits.parser.textBytesMax} bytes`;
      throw new Failure('source_too_large', message);
    }
    const memoryBytes = process.memoryUsage.rss();
    respond({ is: 'parsed', memoryBytes, ...found.header }, ...found.pieces);
  } catch (error) {
    const { code, message, context } = toFailure(named(error));
    respond(
      { is: 'failed', memoryBytes: process.memoryUsage.rss(), code, message, context },
      nothing,
    );
  }
}

function parseOne(request: ParseInput): Promise<Parsed> {
  // To abort, the process is killed.
  return parse(request, new AbortController().signal);
}

/** Buffers are outside of the heap that Node limits; they fail with another error. */
function named(error: unknown): unknown {
  const isMemory =
    error instanceof RangeError && /allocation failed|allocate memory/i.test(error.message);
  return isMemory ? new Failure('parse_memory', error.message, { cause: error }) : error;
}

function respond(header: ParserResponseHeader, ...pieces: readonly Uint8Array[]): void {
  writeFrame(output, header, ...pieces);
}
