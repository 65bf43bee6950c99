/** Places of each kind of source that a test changes at random. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OpenOptions } from '../../src/index.ts';
import { makeRepository } from './git-repository.ts';
import { bucket, credentials, startS3 } from './s3-server.ts';
import { htmlPage, startSite } from './sync-site.ts';
import { type Cleanup, temporaryDirectory } from './temporary.ts';

export interface TestPlace {
  readonly kind: string;
  readonly location: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly opening?: OpenOptions;
  /** The start of the names of its documents. */
  readonly prefix: string;
  write(name: string, text: string): void;
  remove(name: string): void;
  /** Absent: a renamed document is another one. */
  rename?(from: string, to: string): void;
  /** Makes the place unreachable, and reachable again. */
  lose(): void;
  find(): void;
}

function folderPlace(t: Cleanup): TestPlace {
  const folder = join(temporaryDirectory(t), 'docs');
  mkdirSync(folder);
  return {
    kind: 'folder',
    location: folder,
    prefix: `${folder}/`,
    write: (name, text) => writeFileSync(join(folder, name), text),
    remove: (name) => rmSync(join(folder, name)),
    rename: (from, to) => renameSync(join(folder, from), join(folder, to)),
    lose: () => renameSync(folder, `${folder}.away`),
    find: () => renameSync(`${folder}.away`, folder),
  };
}

function repositoryPlace(t: Cleanup): TestPlace {
  const repository = makeRepository(join(temporaryDirectory(t), 'repository'));
  const { folder } = repository;
  return {
    kind: 'git',
    location: folder,
    prefix: `${folder}:`,
    write: (name, text) => repository.write({ [name]: text }),
    remove: (name) => repository.remove(name),
    rename: (from, to) => {
      mkdirSync(dirname(join(folder, to)), { recursive: true });
      repository.git('mv', from, to);
      repository.commit();
    },
    lose: () => renameSync(folder, `${folder}.away`),
    find: () => renameSync(`${folder}.away`, folder),
  };
}

interface Removing {
  deleteObject(bucket: string, key: string): void;
}

async function bucketPlace(t: Cleanup): Promise<TestPlace> {
  const server = await startS3(t);
  const texts = new Map<string, string>();
  const write = (name: string, text: string): void => {
    texts.set(name, text);
    server.objects.putObject(bucket, `docs/${name}`, Buffer.from(text));
  };
  const remove = (name: string): void => {
    (server.objects as unknown as Removing).deleteObject(bucket, `docs/${name}`);
  };
  const { accessKeyId: keyId, secretAccessKey: secret, region } = credentials;
  return {
    kind: 'bucket',
    location: `s3://${bucket}/docs/`,
    options: { endpoint: server.endpoint },
    opening: { bucketKeys: { keyId, secret, region } },
    prefix: `s3://${bucket}/docs/`,
    write,
    remove,
    rename: (from, to) => {
      write(to, texts.get(from) ?? '');
      remove(from);
    },
    lose: () => void server.troubles.push({ on: /list-type/, status: 403, times: 1_000_000 }),
    find: () => void server.troubles.splice(0),
  };
}

async function webPlace(t: Cleanup) {
  const site = await startSite(t);
  const opening: OpenOptions = {
    allowHosts: [site.host],
    pace: { '127.0.0.1': { concurrency: 2, intervalMs: 0 } },
  };
  return { site, opening, prefix: `${site.origin}/` };
}

async function urlsPlace(t: Cleanup): Promise<TestPlace> {
  const { site, opening, prefix } = await webPlace(t);
  const list = join(temporaryDirectory(t), 'list.txt');
  const names = new Set<string>();
  const save = (): void =>
    writeFileSync(list, [...names].map((name) => `${prefix}${name}\n`).join(''));
  const write = (name: string, text: string): void => {
    site.pages.set(`/${name}`, text);
    names.add(name);
    save();
  };
  // Every second page stays in the list, and is gone.
  const remove = (name: string): void => {
    site.pages.delete(`/${name}`);
    if (names.size % 2 === 0) names.delete(name);
    save();
  };
  save();
  return {
    kind: 'urls',
    location: list,
    opening,
    prefix,
    write,
    remove,
    rename: (from, to) => {
      write(to, String(site.pages.get(`/${from}`)));
      remove(from);
    },
    lose: () => renameSync(list, `${list}.away`),
    find: () => {
      rmSync(list, { force: true });
      renameSync(`${list}.away`, list);
    },
  };
}

async function sitePlace(t: Cleanup): Promise<TestPlace> {
  const { site, opening, prefix } = await webPlace(t);
  const names = new Set<string>();
  let edition = 0;
  const save = (): void => {
    edition += 1;
    const links = [...names].map((name) => `/${name}`);
    site.pages.set('/', htmlPage('Home', `Edition ${edition} of the start.`, ...links));
  };
  save();
  let home = site.pages.get('/');
  return {
    kind: 'site',
    location: prefix,
    opening,
    prefix,
    write: (name, text) => {
      const heron = text.replaceAll('\n', ' ');
      site.pages.set(`/${name}`, htmlPage(name, heron));
      if (names.has(name)) return;
      names.add(name);
      save();
    },
    remove: (name) => {
      site.pages.delete(`/${name}`);
      names.delete(name);
      save();
    },
    lose: () => {
      home = site.pages.get('/');
      site.pages.set('/', 503);
    },
    find: () => void site.pages.set('/', home ?? 404),
  };
}

export const testPlaces: readonly ((t: Cleanup) => Promise<TestPlace> | TestPlace)[] = [
  repositoryPlace,
  bucketPlace,
  urlsPlace,
  sitePlace,
];

/** With the folder, whose own model test also changes clocks and file times. */
export const killedPlaces = [folderPlace, ...testPlaces];
