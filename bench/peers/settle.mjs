/** The peers' tables get the same maintenance between the phases as Pawl's. */
import pg from 'pg';

export async function settleStatistics(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
  await client.end();
}
