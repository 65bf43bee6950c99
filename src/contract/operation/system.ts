/** The route of workers and current limits. */
import Type from 'typebox';
import { Count, nullable, time } from '../schema/parts.ts';
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
});

export const system = routes('Service', {
  'GET /system': {
    summary: 'The running workers, and the current limits of domains and providers',
    answer: System,
    failures: [],
  },
});
