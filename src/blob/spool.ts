/**
 * Bytes that come piece by piece, on disk until their hash is known. The file has no name any more
 * when the first of them is written, so that whatever ends the process removes it.
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
