/**
 * Sweeps a partition of a bucket. S3 has no conditional delete, so an unused object is first copied
 * aside and then deleted. The copy is kept as long as an unused blob would be. A writer that stored
 * the blob again in between finds the copy (`restore`). When the copy is old, it is known whether
 * the blob is used; if so, it is restored.
 */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { Sweep } from './blob.ts';
import type { Bucket } from './bucket.ts';

interface Where {
  readonly bucket: Bucket;
  /** The prefix of object names. */
  readonly at: string;
}

interface Listed {
  readonly key: string;
  readonly isAside: boolean;
  readonly changedAt: number;
}

export function objectOf(at: string, key: string): string {
  return `${at}${key.slice(0, 2)}/${key}`;
}

export function asideOf(at: string, key: string): string {
  return `${objectOf(at, key)}.swept`;
}

export async function sweepBucket(
  { part, ...where }: Where & { readonly part: number },
  sweep: Omit<Sweep, 'part'>,
): Promise<number> {
  const prefix = `${where.at}${part.toString(16).padStart(2, '0')}/`;
  let removed = 0;
  for await (const page of pagesOf(where.bucket, prefix)) {
    const old = page.filter(({ changedAt }) => changedAt < sweep.before);
    for (let start = 0; start < old.length && removed < sweep.limit; start += sweep.limit) {
      removed += await sweepSome(where, old.slice(start, start + sweep.limit), sweep);
    }
    if (removed >= sweep.limit) break;
  }
  return removed;
}

async function sweepSome(
  where: Where,
  some: readonly Listed[],
  { used: findUsed, limit }: Omit<Sweep, 'part'>,
): Promise<number> {
  const used = await findUsed(some.map(({ key }) => key));
  let removed = 0;
  for (const { key, isAside } of some) {
    if (removed >= limit) break;
    const name = objectOf(where.at, key);
    const aside = asideOf(where.at, key);
    if (isAside) {
      if (used.has(key)) await restore(where, key, aside);
      await remove(where, aside);
    } else if (!used.has(key)) {
      if (await copy(where, name, aside)) await remove(where, name);
      removed += 1;
    }
  }
  return removed;
}

/** Restores an object that was set aside, unless it exists. */
export async function restore(where: Where, key: string, aside: string): Promise<void> {
  const name = objectOf(where.at, key);
  const there = await where.bucket.send({ method: 'HEAD', name });
  await there?.body.dump();
  if (!there) await copy(where, aside, name);
}

/** False if there is nothing to copy. */
async function copy({ bucket }: Where, from: string, to: string): Promise<boolean> {
  const source = `/${bucket.id}/${from}`;
  const headers = { 'x-amz-copy-source': source };
  const answer = await bucket.send({ method: 'PUT', name: to, headers });
  if (!answer) return false;
  const text = await answer.body.text();
  // A copy may fail after the server has sent status 200.
  if (/<CopyObjectResult/.test(text)) return true;
  throw new Failure('provider_unavailable', `${bucket.name} did not copy ${from}`);
}

async function remove({ bucket }: Where, name: string): Promise<void> {
  await (await bucket.send({ method: 'DELETE', name }))?.body.dump();
}

const listed = /<Contents>([\s\S]*?)<\/Contents>/g;
const named = /<Key>[^<]*\/([0-9a-f]{64})(\.swept)?<\/Key>/;
const changed = /<LastModified>([^<]+)<\/LastModified>/;
const continued = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/;

async function* pagesOf(bucket: Bucket, prefix: string): AsyncGenerator<Listed[], void> {
  let token: string | undefined;
  for (let pages = 0; pages < limits.bucket.listPagesMax; pages += 1) {
    const more: Record<string, string> = token === undefined ? {} : { 'continuation-token': token };
    const query = { 'list-type': '2', prefix, ...more };
    const text = (await (await bucket.send({ method: 'GET', name: '', query }))?.body.text()) ?? '';
    yield [...text.matchAll(listed)].flatMap(([, entry = '']) => {
      const [, key, aside] = named.exec(entry) ?? [];
      const changedAt = Date.parse(changed.exec(entry)?.[1] ?? '');
      return key === undefined ? [] : [{ key, isAside: aside !== undefined, changedAt }];
    });
    token = continued.exec(text)?.[1]?.replaceAll('&amp;', '&');
    if (token === undefined) return;
  }
}
