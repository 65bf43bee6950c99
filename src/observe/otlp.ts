/**
 * Sends spans to a collector by OTLP over HTTP, as JSON, in batches. Spans are optional and nothing
 * waits for them: spans that cannot be sent are dropped, and this is logged once.
 */
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { Span } from './trace.ts';

export interface OtlpOptions {
  /** Without a path: spans go to `/v1/traces` below it. */
  readonly url: string;
  readonly world: World;
  readonly fetch?: typeof fetch | undefined;
  readonly onError: (what: string, error: unknown) => void;
}

export class OtlpSender {
  readonly #options: OtlpOptions;
  #held: Span[] = [];
  #cancel: (() => void) | undefined;
  #sending: Promise<void> = Promise.resolve();
  #isAway = false;

  constructor(options: OtlpOptions) {
    this.#options = options;
  }

  readonly tell = (span: Span): void => {
    if (this.#held.length >= limits.trace.spansHeldMax) return;
    this.#held.push(span);
    if (this.#held.length >= limits.trace.batchMax) void this.flush();
    else
      this.#cancel ??= this.#options.world.setTimer(() => void this.flush(), limits.trace.waitMs);
  };

  /** Resolves when everything so far has been sent or dropped. */
  flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    const spans = this.#held;
    this.#held = [];
    if (spans.length > 0) this.#sending = this.#sending.then(() => this.#send(spans));
    return this.#sending;
  }

  async #send(spans: readonly Span[]): Promise<void> {
    const { url, fetch: send = fetch, onError } = this.#options;
    try {
      const response = await send(`${url.replace(/\/+$/, '')}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(messageOf(spans)),
        signal: AbortSignal.timeout(limits.trace.timeoutMs),
        redirect: 'error',
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the collector answered ${response.status}`);
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) onError('traces', error);
      this.#isAway = true;
    }
  }
}

const kinds = { internal: 1, server: 2, client: 3 } as const;

function messageOf(spans: readonly Span[]) {
  const resource = { attributes: attributesOf({ 'service.name': 'pawl' }) };
  return {
    resourceSpans: [
      { resource, scopeSpans: [{ scope: { name: 'pawl' }, spans: spans.map(shape) }] },
    ],
  };
}

function shape(span: Span) {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId !== undefined && { parentSpanId: span.parentId }),
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(span.endMs),
    attributes: attributesOf(span.attributes),
    status: { code: span.isFailed ? 2 : 0 },
  };
}

/** Larger than a number can hold exactly, so it is text. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}

function attributesOf(attributes: Span['attributes']): Attribute[] {
  return Object.entries(attributes).flatMap(([key, value]): Attribute[] => {
    if (value === undefined || value === null) return [];
    if (typeof value === 'boolean') return [{ key, value: { boolValue: value } }];
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }];
    const isWhole = Number.isSafeInteger(value);
    return [{ key, value: isWhole ? { intValue: String(value) } : { doubleValue: value } }];
  });
}
