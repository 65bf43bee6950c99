/** Reads `/metrics` and keeps the samples of the last minutes. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function readMetrics(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => {
      const match = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line);
      if (!match) return [];
      const [, name = '', labels = '', value = ''] = match;
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
      const read = pairs.map(([, key = '', text = '']) => [key, text] as const);
      return [{ name, labels: Object.fromEntries(read), value: Number(value) }];
    });
}

export function sumOf(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const isWanted = (sample: Sample): boolean =>
    sample.name === name &&
    Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
  return samples.filter(isWanted).reduce((sum, { value }) => sum + value, 0);
}

/** One sample of the charted metrics: growing counts and times, and queue lengths. */
export interface Moment {
  readonly at: number;
  readonly documents: number;
  readonly steps: number;
  readonly requests: number;
  readonly requestSeconds: number;
  readonly searches: number;
  readonly searchSeconds: number;
  readonly embeddings: number;
  readonly embeddingSeconds: number;
  readonly waiting: number;
}

export function momentOf(samples: readonly Sample[], at: number): Moment {
  const events = (kind: string): number => sumOf(samples, 'pawl_events_total', { kind });
  const requests = 'pawl_http_request_duration_seconds';
  const embeddings = 'embedding_request_duration_seconds';
  const [read, write] = [{ operation: 'read' }, { operation: 'write' }];
  return {
    at,
    documents: events('generation_flipped') + events('item_unchanged'),
    steps: events('step_completed'),
    requests: sumOf(samples, `${requests}_count`),
    requestSeconds: sumOf(samples, `${requests}_sum`),
    searches: sumOf(samples, `${embeddings}_count`, read),
    searchSeconds: sumOf(samples, `${embeddings}_sum`, read),
    embeddings: sumOf(samples, `${embeddings}_count`, write),
    embeddingSeconds: sumOf(samples, `${embeddings}_sum`, write),
    waiting: sumOf(samples, 'queue_depth'),
  };
}

export interface Point {
  readonly at: number;
  readonly value: number;
}

type Growing = Exclude<keyof Moment, 'at' | 'waiting'>;

/** The rate per second between consecutive samples. Counters restart at 0 with the service. */
export function ratesOf(moments: readonly Moment[], name: Growing): Point[] {
  return pairsOf(moments).map(([before, now]) => {
    const grown = now[name] - before[name];
    return { at: now.at, value: Math.max(grown, 0) / ((now.at - before.at) / 1000) };
  });
}

const timed = {
  request: ['requests', 'requestSeconds'],
  search: ['searches', 'searchSeconds'],
  embedding: ['embeddings', 'embeddingSeconds'],
} as const satisfies Record<string, readonly [Growing, Growing]>;

/** The average milliseconds per call between two samples; 0 without calls. */
export function latenciesOf(moments: readonly Moment[], name: keyof typeof timed): Point[] {
  const [count, seconds] = timed[name];
  return pairsOf(moments).map(([before, now]) => {
    const grown = now[count] - before[count];
    return {
      at: now.at,
      value: grown > 0 ? ((now[seconds] - before[seconds]) / grown) * 1000 : 0,
    };
  });
}

export function depthsOf(moments: readonly Moment[]): Point[] {
  return moments.map(({ at, waiting }) => ({ at, value: waiting }));
}

function pairsOf(moments: readonly Moment[]): (readonly [Moment, Moment])[] {
  return moments.slice(1).flatMap((now, index) => {
    const before = moments[index];
    return before && now.at > before.at ? [[before, now] as const] : [];
  });
}
