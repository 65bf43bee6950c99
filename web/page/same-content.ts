/** Finds files with the same content. Only files of the same size are read. */
import { useEffect, useState } from 'react';
import type { ChosenFile } from './chosen-file.ts';

/** Larger files would have to be held in memory. The service compares those. */
const comparedBytesMax = 16_000_000;

/** The path of a file, and of the first file with the same content. */
export type SameContent = ReadonlyMap<string, string>;

export function useSameContent(files: readonly ChosenFile[]): SameContent {
  const [same, setSame] = useState<SameContent>(new Map());
  useEffect(() => {
    let isStale = false;
    void findSame(files).then((found) => {
      if (!isStale) setSame((before) => (found.size + before.size === 0 ? before : found));
    });
    return () => {
      isStale = true;
    };
  }, [files]);
  return same;
}

async function findSame(files: readonly ChosenFile[]): Promise<SameContent> {
  const found = new Map<string, string>();
  // Absent where the page was not loaded over HTTPS or from this machine.
  if (globalThis.crypto?.subtle === undefined) return found;
  for (const group of sameSizes(files)) {
    const first = new Map<string, string>();
    for (const { path, file } of group) {
      const digest = await digestOf(file);
      const other = digest === undefined ? undefined : first.get(digest);
      if (other !== undefined && other !== path) found.set(path, other);
      else if (digest !== undefined) first.set(digest, path);
    }
  }
  return found;
}

function sameSizes(files: readonly ChosenFile[]): ChosenFile[][] {
  const bySize = Map.groupBy(files, ({ file }) => file.size);
  return [...bySize]
    .filter(([size, group]) => group.length > 1 && size > 0 && size <= comparedBytesMax)
    .map(([, group]) => group);
}

/** Undefined if the file cannot be read any more: sending it will say so. */
async function digestOf(file: File): Promise<string | undefined> {
  try {
    const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
    return new Uint8Array(digest).join(' ');
  } catch {
    return undefined;
  }
}
