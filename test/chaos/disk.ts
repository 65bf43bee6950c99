/**
 * A disk that forgets: writes without a flush may survive a power cut completely, partly or not at
 * all. A name is durable when its file or its folder was flushed after its creation; the content of
 * a folder whose own name is lost is lost with it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Chance } from './chance.ts';
import type { SystemCall } from './system-call.ts';

type Change =
  | { readonly bytes: Buffer; readonly offset: number }
  | { readonly truncatedTo: number };

interface File {
  readonly isFolder: boolean;
  sure: Buffer;
  unsure: Change[];
  /** The length that a running process sees. */
  length: number;
}

const sectorBytes = 512;

export class Disk {
  readonly #root: string;
  readonly #names = new Map<string, File>();
  readonly #sureNames = new Map<string, File>();

  /** Only files below the root are recorded. */
  constructor(root: string) {
    this.#root = root;
  }

  apply(call: SystemCall): void {
    switch (call.kind) {
      case 'create':
      case 'folder':
        if (this.#isBelow(call.path) && !this.#names.has(call.path)) {
          const isFolder = call.kind === 'folder';
          this.#names.set(call.path, { isFolder, sure: Buffer.alloc(0), unsure: [], length: 0 });
        }
        break;
      case 'unlink':
        this.#names.delete(call.path);
        break;
      case 'rename':
        this.#rename(call.from, call.to);
        break;
      case 'truncate':
        this.#change(call.path, { truncatedTo: call.size });
        break;
      case 'write':
        this.#write(call.path, call.bytes, call.offset);
        break;
      case 'sync':
        this.#sync(call.path);
        break;
    }
  }

  /**
   * Writes what a power cut would leave now. Without chance, everything that is not durable is
   * lost.
   */
  writeTo(directory: string, chance?: Chance): void {
    const names = new Map(this.#sureNames);
    for (const [path, file] of this.#names) if (chance?.hits(0.5)) names.set(path, file);
    for (const path of this.#sureNames.keys()) {
      if (!this.#names.has(path) && chance?.hits(0.5)) names.delete(path);
    }
    const isReached = (path: string): boolean =>
      path === this.#root || (names.has(path) && isReached(dirname(path)));
    for (const [path, file] of names) {
      if (!isReached(path)) continue;
      const target = join(directory, relative(this.#root, path));
      mkdirSync(file.isFolder ? target : dirname(target), { recursive: true });
      if (!file.isFolder) writeFileSync(target, chance ? survivor(file, chance) : file.sure);
    }
  }

  #isBelow(path: string): boolean {
    // Shared memory is not a file after a power cut, even with a file name.
    return path.startsWith(`${this.#root}/`) && !path.endsWith('-shm');
  }

  #rename(from: string, to: string): void {
    const file = this.#names.get(from);
    if (!file) return;
    this.#names.delete(from);
    this.#names.set(to, file);
  }

  #write(path: string, bytes: Buffer, offset: number | undefined): void {
    const file = this.#names.get(path);
    if (file) this.#change(path, { bytes, offset: offset ?? file.length });
  }

  #change(path: string, change: Change): void {
    const file = this.#names.get(path);
    if (!file) return;
    file.unsure.push(change);
    file.length =
      'bytes' in change
        ? Math.max(file.length, change.offset + change.bytes.length)
        : change.truncatedTo;
  }

  #sync(path: string): void {
    const file = this.#names.get(path);
    if (file) {
      for (const change of file.unsure) file.sure = changed(file.sure, change);
      file.unsure = [];
      this.#sureNames.set(path, file);
    }
    const isWithin = (name: string): boolean => dirname(name) === path;
    for (const name of [...this.#sureNames.keys()].filter(isWithin)) {
      if (!this.#names.has(name)) this.#sureNames.delete(name);
    }
    for (const [name, other] of this.#names) if (isWithin(name)) this.#sureNames.set(name, other);
  }
}

function changed(bytes: Buffer, change: Change): Buffer {
  const size =
    'bytes' in change
      ? Math.max(bytes.length, change.offset + change.bytes.length)
      : change.truncatedTo;
  const result = Buffer.alloc(size);
  bytes.copy(result, 0, 0, Math.min(size, bytes.length));
  if ('bytes' in change) change.bytes.copy(result, change.offset);
  return result;
}

/** Each unflushed change survives, or not, or only its first sectors do. */
function survivor({ sure, unsure }: File, chance: Chance): Buffer {
  let bytes = sure;
  for (const change of unsure) {
    if (chance.hits(0.5)) continue;
    const isTorn = 'bytes' in change && chance.hits(0.3);
    const sectors = isTorn ? chance.below(change.bytes.length / sectorBytes) : 0;
    const kept = isTorn
      ? { ...change, bytes: change.bytes.subarray(0, sectors * sectorBytes) }
      : change;
    bytes = changed(bytes, kept);
  }
  return bytes;
}
