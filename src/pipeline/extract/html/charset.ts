/** Bytes to text: UTF-8 if they are that, else what the page declares, else the web's habit. */
const declaredIn = 4096;

export function decodeHtml(bytes: Uint8Array, declared?: string): string {
  return (
    tryDecode(bytes, 'utf-8') ??
    tryDecode(bytes, declared) ??
    tryDecode(bytes, declaredCharset(bytes)) ??
    new TextDecoder('windows-1252').decode(bytes)
  );
}

/** Strict, so that a wrong declaration is passed over; an unknown one counts as none. */
function tryDecode(bytes: Uint8Array, label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function declaredCharset(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, declaredIn));
  return /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]{1,40})/i.exec(head)?.[1];
}
