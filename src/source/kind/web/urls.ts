/** A list of pages as a source: addresses in the location, or one on each line of a file. */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { TimeSlice } from '../../../concurrency/time-slice.ts';
import type { FollowedPlace, ListFrom, SourceKind } from '../../../engine/sync/source-kind.ts';
import { compareKeys } from '../../../engine/sync/source-kind.ts';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { urlSource } from '../../sources.ts';
import { wantedBy } from '../wanted.ts';
import { pagesOf, type Row, sorted } from './listing.ts';
import { PageReader, readPage, type WebTools } from './page-reader.ts';
import { stampText } from './page-stamp.ts';

export function urlsKind(tools: WebTools): SourceKind {
  return {
    name: 'urls',
    check: async ({ location }) => {
      if (isAddress(location)) return (await addressesIn(location)).join('\n');
      const path = resolve(location);
      await addressesOf(path);
      return path;
    },
    list: (place, from) => pagesOf(rowsOf(tools, place, from)),
    read: (_place, key, { signal }) => readPage(tools, key, signal),
    hasPages: true,
    sourceOf: (_place, key) => ({ kind: 'upload', source: key }),
  };
}

function isAddress(location: string): boolean {
  return /^https?:\/\//i.test(location.trim());
}

function addressesIn(text: string): Promise<string[]> {
  const parts = text.split(/[\s,]+(?=https?:\/\/)/i).map((part) => part.trim());
  return unique(parts.filter((part) => part !== ''));
}

async function unique(addresses: readonly string[]): Promise<string[]> {
  const sources = new Set<string>();
  const slice = new TimeSlice();
  for (const address of addresses) {
    sources.add(urlSource(address).source);
    if (slice.isOver) await slice.next();
  }
  return sorted([...sources], (source) => source);
}

async function addressesOf(location: string): Promise<string[]> {
  if (isAddress(location)) return addressesIn(location);
  const text = await textOf(location);
  const lines = text.split('\n').map((line) => line.trim());
  const addresses = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (addresses.length > limits.job.itemsMax) {
    const message = `${location} has more than ${limits.job.itemsMax} addresses`;
    throw new Failure('too_many_sources', message);
  }
  return unique(addresses);
}

async function textOf(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > limits.document.sourceBytesMax) {
      throw new Failure('source_too_large', `the list ${path} has ${size} bytes`);
    }
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    const message = isMissing ? `there is no file ${path}` : `${path} cannot be read (${code})`;
    throw new Failure(isMissing ? 'source_missing' : 'source_unreadable', message, {
      cause: error,
    });
  }
}

async function* rowsOf(
  tools: WebTools,
  place: FollowedPlace,
  { after, signal, stamps }: ListFrom,
): AsyncGenerator<Row> {
  const isWanted = wantedBy(place);
  const addresses = (await addressesOf(place.location)).filter(isWanted);
  const rest = addresses.filter((key) => compareKeys(key, after) > 0);
  const reader = new PageReader(tools, signal);
  const known = await stamps(rest);
  for (const key of rest) {
    const stamp = known.get(key);
    const found = await reader.read(key, stamp);
    if (found.is === 'gone') yield { key, isGone: true };
    else if (found.is === 'failed') yield { key, failure: found.failure };
    else if (found.is === 'same' || (found.is === 'skipped' && stamp !== undefined)) {
      // A page that is empty or of another type now is still in the list: its document stays.
      yield { key, entry: { key, stamp: stamp ?? null, size: null } };
    }
    if (found.is === 'page') {
      const { bytes } = found;
      yield { key, entry: { key, stamp: stampText(found.stamp), size: bytes.length, bytes } };
    }
  }
}
