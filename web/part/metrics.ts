/** Reads what `/metrics` tells, and keeps the last minutes of it. */
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

/** What is charted: counts that only grow, at a moment. */
export interface Moment {
  readonly at: number;
  readonly documents: number;
  readonly steps: number;
  readonly requests: number;
  readonly requestSeconds: number;
}

export function momentOf(samples: readonly Sample[], at: number): Moment {
  const events = (kind: string): number => sumOf(samples, 'pawl_events_total', { kind });
  return {
    at,
    documents: events('generation_flipped') + events('item_unchanged'),
    steps: events('step_completed'),
    requests: sumOf(samples, 'pawl_http_request_duration_seconds_count'),
    requestSeconds: sumOf(samples, 'pawl_http_request_duration_seconds_sum'),
  };
}

export interface Point {
  readonly at: number;
  readonly value: number;
}

/** From each moment to the next: how many in a second. A service that began anew begins at 0. */
export function ratesOf(
  moments: readonly Moment[],
  name: 'documents' | 'steps' | 'requests',
): Point[] {
  return pairsOf(moments).map(([before, now]) => {
    const grown = now[name] - before[name];
    return { at: now.at, value: Math.max(grown, 0) / ((now.at - before.at) / 1000) };
  });
}

/** How long a request took, on the average between two moments. */
export function latenciesOf(moments: readonly Moment[]): Point[] {
  return pairsOf(moments).map(([before, now]) => {
    const requests = now.requests - before.requests;
    const seconds = now.requestSeconds - before.requestSeconds;
    return { at: now.at, value: requests > 0 ? (seconds / requests) * 1000 : 0 };
  });
}

function pairsOf(moments: readonly Moment[]): (readonly [Moment, Moment])[] {
  return moments.slice(1).flatMap((now, index) => {
    const before = moments[index];
    return before && now.at > before.at ? [[before, now] as const] : [];
  });
}
