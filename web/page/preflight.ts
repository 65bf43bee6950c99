/** Checks of a source before it is sent. */
import type { BodyOf } from '../../src/contract/contract.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { bytes } from '../part/wording.ts';
import type { ChosenFile } from './chosen-file.ts';

export type Lane = NonNullable<BodyOf<'POST /jobs'>['lane']>;

export interface Checked {
  readonly name: string;
  readonly verdict: 'ready' | 'refused' | 'twice';
  /** A word for all sources with the same result. */
  readonly group: string;
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
        return {
          ...checked,
          verdict: 'twice',
          group: 'twice in the list',
          note: 'is already in the list',
        };
      seen.add(checked.name);
      return checked;
    });
}

export function checkAddress(line: string): Checked {
  const refuse = (note: string): Checked => ({
    name: line,
    verdict: 'refused',
    group: 'not valid',
    note,
  });
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
  if (isPrivate(url.hostname)) {
    const note = 'fetched only if PAWL_ALLOW_HOSTS names it';
    return { name: url.href, verdict: 'ready', group: 'on a private network', note };
  }
  return { name: url.href, verdict: 'ready', group: 'ready', note: 'ready' };
}

/** Only a name can be judged here. The service judges the address that it leads to. */
const isPrivate = (host: string): boolean =>
  /^(?:localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|\[f[cd]|\[::1)/.test(
    host,
  );

/** Audio and video files, which only the cheap lane accepts. */
const isRecording = ({ type }: File): boolean => /^(?:audio|video)\//.test(type);

/** Files of a folder that people do not mean: those of tools, and hidden ones. */
const isHidden = (path: string): boolean => /(?:^|\/)(?:\.[^/]+|node_modules)(?:\/|$)/.test(path);

export function checkFiles(
  files: readonly ChosenFile[],
  lane: Lane,
  same: ReadonlyMap<string, string> = new Map(),
): Checked[] {
  const seen = new Set<string>();
  return files.map(({ path: name, file }) => {
    const problem = problemOf(file, name, lane);
    if (problem) return { name, verdict: 'refused', ...problem };
    if (seen.has(name)) {
      return { name, verdict: 'twice', group: 'twice in the list', note: 'is already in the list' };
    }
    seen.add(name);
    const other = same.get(name);
    if (other !== undefined) {
      return { name, verdict: 'twice', group: 'same content', note: `the same as ${other}` };
    }
    return { name, verdict: 'ready', group: 'ready', note: bytes(file.size) };
  });
}

function problemOf(
  file: File,
  path: string,
  lane: Lane,
): Pick<Checked, 'group' | 'note'> | undefined {
  const { sourceBytesMax } = limits.document;
  if (path.includes('/') && isHidden(path)) {
    return { group: 'hidden', note: 'a hidden file; choose it alone to add it' };
  }
  if (file.size === 0) return { group: 'empty', note: 'is empty' };
  if (file.size > sourceBytesMax) {
    const note = `${bytes(file.size)}: files may have up to ${bytes(sourceBytesMax)}`;
    return { group: 'too large', note };
  }
  if (lane === 'now' && isRecording(file)) {
    return { group: 'recordings', note: 'a recording: choose the batch lane' };
  }
  return undefined;
}

export function corpusProblem(name: string): string | undefined {
  if (name === '') return 'enter a name for the corpus';
  if (limits.corpus.namePattern.test(name)) return undefined;
  return 'use lowercase letters, digits, dots, dashes and underscores, and no dash at the start';
}
