/** The routes about the service itself. */
import Type from 'typebox';
import * as schema from '../schema/schema.ts';
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
    summary: 'Store, queue and provider can be used; 503 where one cannot',
    answer: schema.Ready,
  },
  'GET /metrics': {
    ...open,
    summary: 'Figures for Prometheus',
    answer: Type.String(),
    media: 'text/plain',
  },
  'GET /openapi.json': {
    ...open,
    summary: 'This description',
    answer: Type.Record(Type.String(), Type.Unknown()),
  },
  'GET /docs': {
    ...open,
    summary: 'This description, for people',
    answer: Type.String(),
    media: 'text/html',
  },
});
