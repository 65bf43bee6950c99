/** The last robots.txt response of each origin. */
import type { Reader } from '../driver/database.ts';
import { write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';

export interface RobotsRow {
  readonly origin: string;
  readonly status: number;
  readonly body: string;
  readonly fetched_at: number;
}

const get = sql<RobotsRow>`SELECT * FROM robots WHERE origin = :origin`;

export async function getRobots(reader: Reader, origin: string): Promise<RobotsRow | undefined> {
  return (await reader.run(get, { origin }))[0];
}

export const writeRobots = write<RobotsRow>`
  INSERT INTO robots (origin, status, body, fetched_at)
  VALUES (:origin, :status, :body, :fetched_at)
  ON CONFLICT (origin) DO UPDATE SET status = excluded.status, body = excluded.body,
    fetched_at = excluded.fetched_at
  WHERE excluded.fetched_at >= robots.fetched_at`;
