/** Checks of a source before it is sent. */
import type { BodyOf } from '../../src/contract/contract.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { bytes } from '../part/wording.ts';

export type Lane = NonNullable<BodyOf<'POST /jobs'>['lane']>;

export interface Checked {
  readonly name: string;
  readonly verdict: 'ready' | 'refused' | 'twice';
  readonly note: string;
}

/** One address per line; an invalid one is returned with the reason. */
export function checkLines(text: string): Checked[] {
  const seen = new Set<string>();
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const checked = checkAddress(line);
      if (checked.verdict !== 'ready') return checked;
      if (seen.has(checked.name))
        return { ...checked, verdict: 'twice', note: 'is already in the list' };
      seen.add(checked.name);
      return checked;
    });
}

export function checkAddress(line: string): Checked {
  const refuse = (note: string): Checked => ({ name: line, verdict: 'refused', note });
  const given = /^[a-z][a-z0-9+.-]*:/i.test(line) ? line : `https://${line}`;
  if (/\s/.test(line)) return refuse('one address per line, without spaces');
  if (!URL.canParse(given)) return refuse('is not an address');
  const url = new URL(given);
  if (!/^https?:$/.test(url.protocol)) return refuse('only http and https can be fetched');
  if (
    !url.hostname.includes('.') &&
    url.hostname !== 'localhost' &&
    !url.hostname.startsWith('[')
  ) {
    return refuse('has no full host name');
  }
  if (url.username !== '') return refuse('must not contain a name or a password');
  if (url.href.length > limits.job.sourceUrlCharactersMax) return refuse('is too long');
  url.hash = '';
  return { name: url.href, verdict: 'ready', note: 'ready' };
}

/** Audio and video files, which only the cheap lane accepts. */
const isRecording = ({ type }: File): boolean => /^(?:audio|video)\//.test(type);

export function checkFiles(files: readonly File[], lane: Lane): Checked[] {
  const { sourceBytesMax } = limits.document;
  const seen = new Set<string>();
  return files.map((file) => {
    const name = nameOf(file);
    const isTwice = seen.has(name);
    seen.add(name);
    if (file.size === 0) return { name, verdict: 'refused', note: 'is empty' };
    if (file.size > sourceBytesMax) {
      const note = `${bytes(file.size)}: files may have up to ${bytes(sourceBytesMax)}`;
      return { name, verdict: 'refused', note };
    }
    if (isTwice) return { name, verdict: 'twice', note: 'is already in the list' };
    if (lane === 'now' && isRecording(file)) {
      return { name, verdict: 'refused', note: 'a recording: choose the cheap lane' };
    }
    return { name, verdict: 'ready', note: bytes(file.size) };
  });
}

/** With its folders, if a folder was dropped or chosen. */
export function nameOf(file: File): string {
  return file.webkitRelativePath || file.name;
}

export function corpusProblem(name: string): string | undefined {
  if (name === '') return 'enter a name for the corpus';
  if (limits.corpus.namePattern.test(name)) return undefined;
  return 'use lowercase letters, digits, dots, dashes and underscores, and no dash at the start';
}
