/** Crawls: what a crawl may read, and the pages it has found. */
import type { Migration } from '../../driver/migrate.ts';

export const crawling: Migration = {
  version: 3,
  name: 'crawl',
  statements: () => [
    `CREATE TABLE crawls (
      job_id {int} PRIMARY KEY,
      site TEXT NOT NULL,
      depth_max {int} NOT NULL,
      pages_max {int} NOT NULL,
      include {json} NOT NULL,
      exclude {json} NOT NULL,
      pages_found {int} NOT NULL
    )`,
    `CREATE TABLE crawl_pages (
      job_id {int} NOT NULL,
      url TEXT NOT NULL,
      depth {int} NOT NULL,
      PRIMARY KEY (job_id, url)
    ) {clustered}`,
  ],
  sqlite: [],
  postgres: [],
};
