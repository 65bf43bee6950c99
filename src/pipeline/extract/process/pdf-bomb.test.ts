/** PDF bombs, parsed in parser processes. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { patience } from '../../../../test/support/patience.ts';
import { textPage, writePdf } from '../../../../test/support/pdf-writer.ts';
import { realWorld } from '../../../app/world.ts';
import { thisProcess } from '../../../engine/item/liveness.ts';
import { toFailure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { processParser } from './process-parser.ts';

const mebibyte = 1024 * 1024;
const lookMs = 5;

function setup(t: TestContext, timeoutMs: number = patience.fileMs) {
  const parser = processParser({ owner: thisProcess(), world: realWorld(), size: 1, timeoutMs });
  t.after(() => parser.close());
  const parse = (bytes: Uint8Array) =>
    parser.parse(
      { bytes, mediaType: 'application/pdf', source: 'a.pdf' },
      new AbortController().signal,
    );
  return { parser, parse };
}

/** The peak memory of the parsers, in bytes, as sampled. */
function watchMemory(pids: () => readonly number[]): () => number {
  let most = 0;
  const timer = setInterval(() => {
    for (const pid of pids()) most = Math.max(most, peakOf(pid));
  }, lookMs);
  return () => {
    clearInterval(timer);
    return most;
  };
}

function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB/m.exec(status) ?? [];
    return Number(kibibytes ?? 0) * 1024;
  } catch {
    return 0; // It has just ended.
  }
}

/** Spaces and a line of words: large, and nothing to draw. */
function inflating(mebibytes: number, filters: number): Buffer {
  const plain = Buffer.alloc(mebibytes * mebibyte, ' ');
  plain.write(textPage('Words of the page'));
  let packed: Buffer = plain;
  for (let count = 0; count < filters; count += 1) packed = deflateSync(packed);
  return writePdf([packed.toString('latin1')], { filters: '/FlateDecode '.repeat(filters) });
}

/** Each form shows the next one ten times: 10^30 copies of the last in total. */
function exponential(last: string): Buffer {
  const depth = 30;
  const first = 6;
  const form = (index: number): string => {
    const isLast = index === depth - 1;
    const stream = isLast ? last : '/F Do '.repeat(10);
    const inner = isLast ? '/Font << /F1 3 0 R >>' : `/XObject << /F ${first + index + 1} 0 R >>`;
    return `<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << ${inner} >>
      /Length ${stream.length} >>\nstream\n${stream}\nendstream`;
  };
  return writePdf(['/F Do'], {
    resources: `/XObject << /F ${first} 0 R >>`,
    objects: Array.from({ length: depth }, (_, index) => form(index)),
  });
}

interface Bomb {
  readonly what: string;
  readonly bytes: () => Buffer;
  /** Any of these: which limit is hit first may depend on the speed of the machine. */
  readonly codes: readonly string[];
  /** The plain pages before and after it must stay below it too. */
  readonly timeoutMs?: number;
}

const bombs: readonly Bomb[] = [
  { what: 'of half a gibibyte in one', bytes: () => inflating(512, 1), codes: ['parse_memory'] },
  {
    what: 'of half a gibibyte, packed twice',
    bytes: () => inflating(512, 2),
    codes: ['parse_memory'],
  },
  {
    what: 'of forms within forms, with words in the last',
    bytes: () => exponential(textPage('Words')),
    codes: ['parse_memory'],
  },
  {
    what: 'of forms within forms, with nothing in the last',
    bytes: () => exponential(''),
    codes: ['parse_timeout', 'parse_memory'],
    timeoutMs: 10_000,
  },
];

for (const { what, bytes, codes, timeoutMs } of bombs) {
  test(`a PDF ${what} is ${codes.join(' or ')}, fails alone and within its bounds`, async (t) => {
    const { parser, parse } = setup(t, timeoutMs);
    // Started before: only the bomb should take time.
    await parse(writePdf([textPage('Words before it')]));
    const peak = watchMemory(() => parser.pids());
    const outcome = await parse(bytes()).then(
      ({ markdown }) => `the text ${markdown.slice(0, 80)}`,
      (error: unknown) => toFailure(error).code,
    );
    const most = peak();
    assert.ok(codes.includes(outcome), outcome);
    // If Pawl polls too late on a busy machine, the system itself refuses more.
    assert.ok(most < limits.parser.reservedBytesMax, `${most / mebibyte} MiB`);
    const next = await parse(writePdf([textPage('Words after it')]));
    assert.match(next.markdown, /Words after it/);
  });
}
