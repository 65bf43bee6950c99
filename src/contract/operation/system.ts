/** The route of workers and current limits. */

import { Count, nullable, time } from '../schema/parts.ts';
import { Type } from '../schema/type.ts';
import { routes } from './row.ts';

const left = Type.Number({ minimum: 0 });

export const System = Type.Object({
  workers: Type.Array(
    Type.Object({
      worker: Type.String(),
      beat_at: time,
      items: Type.Integer({ minimum: 0, description: 'Documents that it has a lease on.' }),
    }),
  ),
  domains: Type.Array(
    Type.Object({
      domain: Type.String(),
      at_once: Count,
      interval_ms: Count,
      next_at: nullable(time),
      reading: Type.Integer({ minimum: 0, description: 'Your documents that are being fetched.' }),
      waiting: Type.Integer({
        minimum: 0,
        description: 'Documents that wait for the limits of the domain.',
      }),
    }),
    { description: 'The domains that you are fetching from, and their limits.' },
  ),
  providers: Type.Array(
    Type.Object({
      provider: Type.String(),
      requests_per_minute: Count,
      requests_left: left,
      tokens_per_minute: Count,
      tokens_left: left,
      closed_until: nullable(time),
    }),
    {
      description:
        'The remaining requests and tokens of this process at each provider, this minute.',
    },
  ),
  caller: Type.Object({ caller_id: Type.String(), tier: nullable(Type.String()) }),
  answer_model: nullable(
    Type.String({ description: 'The model that answers `POST /ask`; null if none is set.' }),
  ),
});

const spread = nullable(
  Type.Object({
    p50: Type.Number({ description: 'The median, in milliseconds.' }),
    p95: Type.Number({ description: 'All but the slowest 5 of 100, in milliseconds.' }),
  }),
);

export const SystemHistory = Type.Object({
  version: Type.String({ description: 'The version of Pawl.' }),
  model: Type.String({ description: 'The embedding model.' }),
  store: Type.Object({
    kind: Type.String(),
    bytes: Type.Integer({ minimum: 0, description: 'Documents, indexes and history.' }),
  }),
  disk: nullable(
    Type.Object({ free_bytes: Count, total_bytes: Count }, { description: 'Of the data folder.' }),
  ),
  interval_seconds: Count,
  readings: Type.Array(
    Type.Object({
      at: time,
      requests: Count,
      searches: Count,
      documents: Type.Integer({ minimum: 0, description: 'Documents that became searchable.' }),
      failures: Count,
      request_ms: spread,
      search_ms: spread,
    }),
    { description: 'What this process did in the last hour, by interval; idle ones are absent.' },
  ),
});

export const system = routes('Service', {
  'GET /system': {
    summary: 'The running workers, and the current limits of domains and providers',
    answer: System,
    failures: [],
  },
  'GET /system/history': {
    summary: 'The last hour of this process, and the size of its store',
    answer: SystemHistory,
    failures: [],
  },
});
