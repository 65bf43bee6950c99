/** Splits chunks of bytes into lines of text. Empty lines are skipped. */
const newline = 10;

export async function* readLines(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string, void> {
  let held: Uint8Array[] = [];
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
      held.push(piece.subarray(start, end));
      const line = Buffer.concat(held).toString();
      held = [];
      start = end + 1;
      if (line !== '') yield line;
    }
    // A copy: the reader may reuse the memory for the next piece.
    held.push(Uint8Array.from(piece.subarray(start)));
  }
  const last = Buffer.concat(held).toString();
  if (last !== '') yield last;
}
