/** Formats numbers, times and names for people. */
const numbers = new Intl.NumberFormat('en-US');
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });

export const count = (value: number): string => numbers.format(value);

export function counted(value: number, noun: string, plural = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : plural}`;
}

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

export function ago(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  if (Math.abs(seconds) < 2) return 'now';
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return 'now';
}

export const exactTime = (at: string): string => exact.format(new Date(at));

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

export function bytes(value: number): string {
  const names = ['B', 'KB', 'MB', 'GB'];
  let size = value;
  let place = 0;
  for (; size >= 1000 && place < names.length - 1; place += 1) size /= 1000;
  return `${size >= 10 || place === 0 ? Math.round(size) : size.toFixed(1)} ${names[place]}`;
}

export function money(cents: number): string {
  if (cents === 0) return 'free';
  if (cents < 0.1) return `${Number(cents.toPrecision(2))} ¢`;
  return cents < 100 ? `${cents.toFixed(2)} ¢` : `$${(cents / 100).toFixed(2)}`;
}

export const words = (name: string): string => name.replaceAll('_', ' ');

/** Truncates the start, because the end of a path says more. */
export function shortSource(source: string): string {
  if (/^https?:/.test(source)) return source.replace(/^https?:\/\//, '');
  if (source.startsWith('upload:')) return source.slice('upload:'.length);
  return source.startsWith('/') ? source.split('/').slice(-2).join('/') : source;
}

/** Quoted for a shell, if it must be. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Inline text has no name that the command could use. */
export function extractCommand(source: string): string {
  const file = source.replace(/^upload:/, '');
  const named = source.startsWith('inline:') ? 'FILE' : `'${file.replaceAll("'", "'\\''")}'`;
  return `pawl extract ${named} --dropped`;
}

/** Only http and https addresses may become links. */
export function linkOf(source: string): string | undefined {
  return /^https?:\/\//i.test(source) ? source : undefined;
}
