/** The rows of the failure table about sinks: what keeps copies outside the store. */
import type { FailureRow } from './row.ts';

export const sinkFailures = {
  qdrant_unavailable: {
    errorCode: 'E_QDRANT',
    kind: 'transient',
    httpStatus: 503,
    title: 'Qdrant unavailable',
    advice: 'Check that Qdrant runs at PAWL_QDRANT_URL, then retry.',
  },
  // It is there, and cannot do this: perhaps because of what it was given.
  qdrant_failed: {
    errorCode: 'E_QDRANT',
    kind: 'transient',
    httpStatus: 502,
    title: 'Qdrant failed',
    advice: 'Look at the log of Qdrant for what the message says, then retry.',
  },
  qdrant_refused: {
    errorCode: 'E_QDRANT',
    kind: 'fatal',
    httpStatus: 502,
    title: 'Qdrant refused',
    advice: 'Check PAWL_QDRANT_KEY, and what Qdrant says in the message, then retry.',
  },
  neo4j_unavailable: {
    errorCode: 'E_NEO4J',
    kind: 'transient',
    httpStatus: 503,
    title: 'Neo4j unavailable',
    advice: 'Check that Neo4j runs at PAWL_NEO4J_URL, then retry.',
  },
  neo4j_failed: {
    errorCode: 'E_NEO4J',
    kind: 'transient',
    httpStatus: 502,
    title: 'Neo4j failed',
    advice: 'Look at the log of Neo4j for what the message says, then retry.',
  },
  neo4j_write_lock: {
    errorCode: 'E_NEO4J',
    kind: 'transient',
    httpStatus: 503,
    title: 'Neo4j is locked',
    advice: 'Look for a long transaction in Neo4j and end it, then retry.',
  },
  neo4j_refused: {
    errorCode: 'E_NEO4J',
    kind: 'fatal',
    httpStatus: 502,
    title: 'Neo4j refused',
    advice: 'Check PAWL_NEO4J_USER and PAWL_NEO4J_PASSWORD, and what Neo4j says, then retry.',
  },
} as const satisfies Record<string, FailureRow>;
