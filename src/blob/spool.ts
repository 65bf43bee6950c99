/**
 * Buffers a stream on disk until its hash is known. The file is unlinked before the first write, so
 * that it disappears however the process ends.
 */
import { createHash, randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SentBody } from './bucket.ts';

export interface Spooled extends SentBody {
  close(): Promise<void>;
}

export async function spool(pieces: AsyncIterable<Uint8Array>): Promise<Spooled> {
  const path = join(tmpdir(), `pawl-${randomUUID()}.spool`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      await file.writeFile(piece);
    }
    return {
      hash: hash.digest('hex'),
      bytes,
      open: () => file.createReadStream({ start: 0, autoClose: false }),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}
