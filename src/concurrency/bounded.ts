/** Reads bodies of untrusted size up to a bound. */

/** Returns all bytes. Throws `tooLarge()` as soon as the bound is exceeded. */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | null,
  bytesMax: number,
  tooLarge: () => Error,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.length;
    if (length > bytesMax) throw tooLarge();
    parts.push(part);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Like `readBounded`, as text. Invalid UTF-8 is replaced. */
export async function readBoundedText(...options: Parameters<typeof readBounded>): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await readBounded(...options));
}
