/**
 * Known words and names, from `assets/entity-lexicon.br`. Each line is an entry in lower case: its
 * flags as a number in base 36, a space, the length of the prefix shared with the previous entry,
 * and the rest. `scripts/build-entity-lexicon.ts` writes the file.
 */
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { Failure } from '../../kernel/failure/failure.ts';

/** The categories of an entry, as bits: `may` is a word and a given name. */
export const marks = {
  /** A common word, and any word in a medium-sized dictionary. */
  frequent: 1,
  word: 2,
  given: 4,
  surname: 8,
  country: 16,
  city: 32,
  /** A city with more than 200,000 people. */
  largeCity: 64,
} as const;

export type Lexicon = ReadonlyMap<string, number>;

const header = 'pawl entity lexicon 1';
const file = new URL('../../../assets/entity-lexicon.br', import.meta.url);

const decompress = promisify(brotliDecompress);
/** Entries between two checks of the clock. */
const entriesAtOnce = 1000;

/** In slices: reading it at once would block the event loop for about 200 ms. */
export async function readLexicon(path: URL = file): Promise<Lexicon> {
  const text = (await decompress(await readFile(path))).toString();
  if (!text.startsWith(`${header}\n`)) {
    throw new Failure('internal_error', `${path.pathname} is no lexicon of entities: reinstall`);
  }
  const entries = new Map<string, number>();
  const slice = new TimeSlice();
  let previous = '';
  for (let start = header.length + 1; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const first = text.indexOf(' ', start);
    const second = text.indexOf(' ', first + 1);
    const kept = Number.parseInt(text.slice(first + 1, second), 36);
    previous = previous.slice(0, kept) + text.slice(second + 1, end);
    entries.set(previous, Number.parseInt(text.slice(start, first), 36));
    start = end + 1;
    if (entries.size % entriesAtOnce === 0 && slice.isOver) await slice.next();
  }
  return entries;
}

/** The file's text, before it is compressed. */
export function writeLexicon(entries: Lexicon): string {
  const lines = [header];
  let previous = '';
  for (const [name, kind] of [...entries].sort(([one], [other]) => (one < other ? -1 : 1))) {
    let kept = 0;
    while (kept < previous.length && kept < 35 && previous[kept] === name[kept]) kept += 1;
    lines.push(`${kind.toString(36)} ${kept.toString(36)} ${name.slice(kept)}`);
    previous = name;
  }
  return lines.join('\n');
}
