/** What Pawl's own tables get between the phases, the peers' get too. */
import pg from 'pg';

export async function settleStatistics(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
  await client.end();
}
