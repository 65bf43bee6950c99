/**
 * Decides whether Postgres can search vectors itself. The extension pgvector may be installed in
 * the database, or available for installation; otherwise vectors are searched in memory.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Database } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import { lockPoints, preparePoints, removePoints } from './pgvector-rows.ts';

export type PgvectorSetting = 'auto' | 'off';

/** What the server reports about the extension. */
export interface PgvectorSeen {
  /** Its version in this database, or null. */
  readonly installed: string | null;
  /** The version that could be installed, or null. */
  readonly available: string | null;
  /** Its types are found without naming their schema. */
  readonly is_visible: boolean;
  /** The store has a table of copied vectors, or leftovers of one. */
  readonly has_points: boolean;
}

export type PgvectorDecision = 'use' | 'create' | Refusal;
type Refusal = 'off' | 'absent' | 'forbidden' | 'too_old' | 'hidden' | 'broken';

export interface PgvectorStanding {
  readonly isUsed: boolean;
  readonly found: string;
  /** What to do to enable it, if something can be done. */
  readonly advice?: string | undefined;
}

export function decidePgvector(seen: PgvectorSeen, setting: PgvectorSetting): PgvectorDecision {
  if (setting === 'off') return 'off';
  const { installed, available, is_visible: isVisible } = seen;
  const version = installed ?? available;
  if (version === null) return 'absent';
  if (!isNewEnough(version)) return 'too_old';
  if (installed === null) return 'create';
  return isVisible ? 'use' : 'hidden';
}

/** Iterative index scans, which continue until enough rows match a filter, need this version. */
const versionMin = [0, 8] as const;

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > versionMin[0] || (major === versionMin[0] && minor >= versionMin[1]);
}

const look = sql<PgvectorSeen>`
  SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS installed,
    (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available,
    to_regtype('halfvec') IS NOT NULL AS is_visible,
    to_regclass('vector_points') IS NOT NULL OR EXISTS (
      SELECT 1 FROM pg_trigger WHERE tgname LIKE 'vectors_points_%'
        AND tgrelid = to_regclass('vectors')) AS has_points`;
const create = sql`CREATE EXTENSION IF NOT EXISTS vector`;

/** Prepares the store for pgvector if possible. Undefined: the store is not Postgres. */
export async function openPgvector(
  database: Database,
  setting: PgvectorSetting,
): Promise<PgvectorStanding | undefined> {
  if (database.dialect.name !== 'postgres') return undefined;
  const [seen] = await database.run(look);
  if (!seen) return undefined;
  // Its triggers would refuse every vector: the extension was dropped, or left the search path.
  const isLost = seen.installed === null || !seen.is_visible;
  if (seen.has_points && isLost) await database.write(removePoints);
  const decision = decidePgvector(seen, setting);
  if (decision !== 'use' && decision !== 'create') return standingOf(decision, seen);
  const refusal = decision === 'create' ? await tryCreate(database) : undefined;
  if (refusal) return standingOf(refusal.why, { ...seen, reason: refusal.reason });
  await database.write(preparePoints);
  const version = seen.installed ?? seen.available;
  return { isUsed: true, found: `${version}: Postgres searches vectors` };
}

const insufficientPrivilege = '42501';

async function tryCreate(
  database: Database,
): Promise<{ why: Refusal; reason: string } | undefined> {
  try {
    await database.write(async (transaction) => {
      await lockPoints(transaction);
      await transaction.run(create);
    });
    const [seen] = await database.run(look);
    return seen?.is_visible ? undefined : { why: 'hidden', reason: '' };
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    // A refusal by the server is tolerated, because pgvector is optional; a connection error is
    // not.
    if (!/^[0-9A-Z]{5}$/.test(code)) throw error;
    return { why: code === insufficientPrivilege ? 'forbidden' : 'broken', reason: message };
  }
}

const inMemory = 'vectors are searched in memory';

const refusals: Readonly<Record<Refusal, readonly [found: string, advice?: string]>> = {
  off: ['off by PAWL_PGVECTOR'],
  absent: ['not on this server'],
  forbidden: [
    'on this server, and this role may not install it',
    'have an administrator run `CREATE EXTENSION vector` in this database, and start again',
  ],
  too_old: [
    `older than ${versionMin.join('.')}`,
    'install a newer pgvector, run `ALTER EXTENSION vector UPDATE`, and start again',
  ],
  hidden: [
    'installed in a schema that is not on the search path',
    'put its schema on the search_path of this role, and start again',
  ],
  broken: ['on this server, and could not be installed', 'fix that, or set PAWL_PGVECTOR to off'],
};

function standingOf(
  refusal: Refusal,
  { installed, available, reason }: PgvectorSeen & { readonly reason?: string },
): PgvectorStanding {
  const [found, advice] = refusals[refusal];
  const version = refusal === 'absent' ? '' : (installed ?? available ?? '');
  const said = reason ? ` (${reason.slice(0, limits.sink.errorCharactersMax)})` : '';
  return { isUsed: false, found: `${`${version} ${found}`.trim()}${said}: ${inMemory}`, advice };
}
