/** Which repositories can be followed, and under which protocol. */
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { Failure } from '../../../kernel/failure/failure.ts';

const schemes = ['https:', 'http:', 'ssh:', 'git:', 'file:'];

export interface Repository {
  /** As git takes it. */
  readonly location: string;
  /** The value of `GIT_ALLOW_PROTOCOL`. */
  readonly protocols: string;
}

/** `user@host:path`, as ssh takes it. A host that begins with a dash would be an option of ssh. */
const scpForm = /^(?:[A-Za-z0-9_][\w.+-]*@)?[A-Za-z0-9][\w.-]*:(?!\/\/)[^-:\s]\S*$/;

export function repositoryOf(location: string): Repository {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
  if (location.startsWith('-') || /[\x00-\x1f\x7f]/.test(location)) throw refused(location);
  if (isAbsolute(location)) return { location, protocols: 'file' };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(location)) return byAddress(location);
  if (scpForm.test(location)) return { location, protocols: 'ssh' };
  throw refused(location);
}

function byAddress(location: string): Repository {
  if (!URL.canParse(location)) throw refused(location);
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(location);
  if (!schemes.includes(protocol)) throw refused(location);
  if (hostname.startsWith('-') || username.startsWith('-')) throw refused(location);
  if (password !== '') {
    const message = 'an address must not hold a password: use ssh keys, or a clone on this machine';
    throw new Failure('bad_request', message);
  }
  // `ext::sh -c …` and options of the programs that git starts have no place in an address.
  if (/(?:^|[\s/])--/.test(decoded(pathname)) || search !== '' || hash !== '') {
    throw refused(location);
  }
  return { location, protocols: protocol.slice(0, -1) };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function refused(location: string): Failure {
  const forms = 'an absolute path, https://…, ssh://…, git://… or user@host:path';
  const message = `${JSON.stringify(location.slice(0, 100))} names no repository: use ${forms}`;
  return new Failure('bad_request', message);
}

/** A branch, as `git check-ref-format` takes it. */
export function checkBranch(branch: string): string {
  const isSound =
    /^[\w][\w./+@-]{0,199}$/.test(branch) &&
    !/\.\.|\/\/|@\{|\.lock(?:\/|$)|[./]$|\/\./.test(branch);
  if (isSound) return branch;
  const shown = JSON.stringify(branch.slice(0, 100));
  throw new Failure('bad_request', `${shown} is not the name of a branch`);
}

/** A folder with the objects of a repository: a work tree, or a bare one. */
export function isRepository(folder: string): boolean {
  return existsSync(`${folder}/.git`) || existsSync(`${folder}/objects`);
}
