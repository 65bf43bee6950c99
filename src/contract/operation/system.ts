/** The route about what the service is busy with. */
import Type from 'typebox';
import { Count, nullable, time } from '../schema/parts.ts';
import { routes } from './row.ts';

const left = Type.Number({ minimum: 0 });

export const System = Type.Object({
  workers: Type.Array(
    Type.Object({
      worker: Type.String(),
      beat_at: time,
      items: Type.Integer({ minimum: 0, description: 'Documents that it holds a lease on.' }),
    }),
  ),
  domains: Type.Array(
    Type.Object({
      domain: Type.String(),
      at_once: Count,
      interval_ms: Count,
      next_at: nullable(time),
      reading: Type.Integer({ minimum: 0, description: 'Your documents past its gate.' }),
      waiting: Type.Integer({ minimum: 0, description: 'Documents behind its gate.' }),
    }),
    { description: 'The domains that you read from now, and their pace.' },
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
    { description: 'What each provider may still be asked for in this minute, by this process.' },
  ),
  caller: Type.Object({ caller_id: Type.String(), tier: nullable(Type.String()) }),
});

export const system = routes('Service', {
  'GET /system': {
    summary: 'Who is at work, and what the pace of domains and providers allows now',
    answer: System,
    failures: [],
  },
});
