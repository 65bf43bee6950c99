/** Reads `text/event-stream`, block by block. */
export interface Sent {
  readonly type: string;
  readonly body: string;
  readonly retryMs: number | undefined;
}

export async function* sentEvents(response: Response): AsyncGenerator<Sent> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) yield readBlock(block);
    }
  } finally {
    // A consumer that stops early closes the connection. Cancelling an ended one is harmless.
    await reader.cancel().catch(() => undefined);
  }
}

function readBlock(block: string): Sent {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, '');
    // A second line of the same field continues the first.
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}\n${value}`);
  }
  const retry = fields.get('retry');
  return {
    type: fields.get('event') ?? 'message',
    body: fields.get('data') ?? '',
    retryMs: retry === undefined ? undefined : Number(retry),
  };
}
