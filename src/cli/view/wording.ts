/** Formats numbers, times and texts for people. */
import { stripVTControlCharacters } from 'node:util';
import { keptPercent } from '../../kernel/text/kept-share.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const grouped = new Intl.NumberFormat('en-US');

export function number(value: number): string {
  return grouped.format(value);
}

/** `1 document`, `12 documents`. */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** The share of the text that was kept. */
export function percent(share: number): string {
  return `${keptPercent(share)} %`;
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log2(Math.max(value, 1)) / 10), units.length - 1);
  const scaled = value / 1024 ** power;
  return `${power === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${units[power]}`;
}

/** An amount of US cents, with only the significant digits. */
export function money(cents: number): string {
  if (cents >= 100) return `$${grouped.format(Math.round(cents) / 100)}`;
  return `${Number(cents.toPrecision(3))} ${cents === 1 ? 'cent' : 'cents'}`;
}

export function duration(spanMs: number): string {
  if (spanMs < second) return `${Math.round(spanMs)} ms`;
  if (spanMs < 10 * second) return `${(spanMs / second).toFixed(1)} s`;
  if (spanMs < minute) return `${Math.round(spanMs / second)} s`;
  const [large, small] = spanMs < hour ? [minute, second] : [hour, minute];
  const [largeUnit, smallUnit] = spanMs < hour ? ['min', 's'] : ['h', 'min'];
  const rest = Math.floor((spanMs % large) / small);
  return `${Math.floor(spanMs / large)} ${largeUnit}${rest > 0 ? ` ${rest} ${smallUnit}` : ''}`;
}

export function ago(time: string, now = Date.now()): string {
  const span = now - Date.parse(time);
  if (span < 5 * second) return 'just now';
  if (span < minute) return `${Math.floor(span / second)} s ago`;
  if (span < hour) return `${Math.floor(span / minute)} min ago`;
  if (span < day) return `${Math.floor(span / hour)} h ago`;
  if (span < 30 * day) return `${Math.floor(span / day)} d ago`;
  return time.slice(0, 10);
}

/** `3 min ago`, and the exact time in the local time zone. */
export function agoExactly(time: string): string {
  const at = new Date(time);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * minute);
  return `${ago(time)} (${local.toISOString().slice(0, 19).replace('T', ' ')})`;
}

/** The number of columns that the text takes. Colour codes take none. */
export function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** Truncates plain text at the end. */
export function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(columns - 1, 0))}…`;
}

/** Truncates a path at the start, because its end says more. */
export function cutPath(path: string, columns: number): string {
  return path.length <= columns ? path : `…${path.slice(path.length - Math.max(columns - 1, 0))}`;
}

/** Wraps plain text into lines. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}

/** A message about a source, prefixed with the source unless the message contains it. */
export function saidOf(source: string, message: string): string {
  return message.includes(source) ? message : `${source}: ${message}`;
}

/** Control characters from a document or a path must not reach the terminal. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}
