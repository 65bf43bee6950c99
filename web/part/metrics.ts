/** Reads the text of `/metrics`. */
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
