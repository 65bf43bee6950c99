/** Parsers of settings: each turns a text into a value, or undefined if it is invalid. */
import { limits } from '../../kernel/limits/limits.ts';

/** By domain: the concurrency and the delay between requests. */
export type PaceSetting = Readonly<
  Record<string, { readonly concurrency: number; readonly intervalMs: number }>
>;

export function wholeNumber(text: string, most: number): number | undefined {
  const value = Number(text);
  return Number.isInteger(value) && value >= 1 && value <= most ? value : undefined;
}

export function list(text: string, entry: RegExp): readonly string[] | undefined {
  const entries = listOf(text);
  return entries.every((part) => entry.test(part)) ? entries : undefined;
}

export function parsePace(text: string): PaceSetting | undefined {
  const { slowestDomainIntervalMs, paceConcurrencyMax } = limits.fetch;
  const entries = text.split(',').map((entry) => {
    const found = /^([a-z0-9.:[\]-]+)=(\d{1,4})\/(\d{1,7})$/i.exec(entry.trim()) ?? [];
    const [, domain = '', concurrency, intervalMs] = found;
    const pace = { concurrency: Number(concurrency), intervalMs: Number(intervalMs) };
    return [domain.toLowerCase(), pace] as const;
  });
  const isFit = entries.every(
    ([domain, { concurrency, intervalMs }]) =>
      domain !== '' &&
      concurrency >= 1 &&
      concurrency <= paceConcurrencyMax &&
      intervalMs <= slowestDomainIntervalMs,
  );
  return isFit ? Object.fromEntries(entries) : undefined;
}

/** Cents per million input and output tokens: `15/60`. */
export function parsePrices(
  text: string,
): { readonly input: number; readonly output: number } | undefined {
  const [, input, output] = /^(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  return input === undefined ? undefined : { input: Number(input), output: Number(output) };
}

export function wholeFromOne(text: string): number | undefined {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= 1 ? value : undefined;
}

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}

/** The parts of a text between its commas. */
export function listOf(text: string): readonly string[] {
  return text.split(',').map((part) => part.trim());
}
