/** The routes about the service itself. */

import * as schema from '../schema/schema.ts';
import { Type } from '../schema/type.ts';
import { routes } from './row.ts';

const open = { isOpen: true, status: 200, failures: [] } as const;
export const service = routes('Service', {
  'GET /healthz': {
    ...open,
    summary: 'The process is alive',
    answer: Type.Object({ status: Type.Literal('ok') }),
  },
  'GET /readyz': {
    ...open,
    summary: 'Whether store, queue and provider are usable; 503 if one is not',
    answer: schema.Ready,
  },
  'GET /metrics': {
    ...open,
    summary: 'Metrics for Prometheus',
    answer: Type.String(),
    media: 'text/plain',
  },
  'GET /openapi.json': {
    ...open,
    summary: 'This API as an OpenAPI document',
    answer: Type.Record(Type.String(), Type.Unknown()),
  },
  'GET /docs': {
    ...open,
    summary: 'This API as a page',
    answer: Type.String(),
    media: 'text/html',
  },
});
