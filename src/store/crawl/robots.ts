import { first, write } from '../driver/query.ts';

export interface RobotsRow {
  readonly origin: string;
  readonly status: number;
  readonly body: string;
  readonly fetched_at: number;
}

export const getRobots = first<string, RobotsRow>`SELECT * FROM robots WHERE origin = :origin`;

export const writeRobots = write<RobotsRow>`
  INSERT INTO robots (origin, status, body, fetched_at)
  VALUES (:origin, :status, :body, :fetched_at)
  ON CONFLICT (origin) DO UPDATE SET status = excluded.status, body = excluded.body,
    fetched_at = excluded.fetched_at
  WHERE excluded.fetched_at >= robots.fetched_at`;
