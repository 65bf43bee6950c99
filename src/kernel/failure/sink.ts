/** The rows of the failure table about sinks, which keep copies outside the store. */
import type { FailureRow } from './row.ts';

export const sinkFailures = {
  qdrant_unavailable: {
    errorCode: 'E_QDRANT',
    kind: 'transient',
    httpStatus: 503,
    title: 'Qdrant unavailable',
    advice: 'Check that Qdrant runs at PAWL_QDRANT_URL, then retry.',
  },
  // Qdrant is reachable but failed, possibly because of its input.
  qdrant_failed: {
    errorCode: 'E_QDRANT',
    kind: 'transient',
    httpStatus: 502,
    title: 'Qdrant failed',
    advice: 'Check the log of Qdrant for the error in the message, then retry.',
  },
  qdrant_refused: {
    errorCode: 'E_QDRANT',
    kind: 'fatal',
    httpStatus: 502,
    title: 'Qdrant refused the request',
    advice: 'Check PAWL_QDRANT_KEY and the error of Qdrant in the message, then retry.',
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
    advice: 'Check the log of Neo4j for the error in the message, then retry.',
  },
  neo4j_write_lock: {
    errorCode: 'E_NEO4J',
    kind: 'transient',
    httpStatus: 503,
    title: 'Neo4j is locked',
    advice: 'Find the long transaction in Neo4j and end it, then retry.',
  },
  neo4j_refused: {
    errorCode: 'E_NEO4J',
    kind: 'fatal',
    httpStatus: 502,
    title: 'Neo4j refused the request',
    advice: 'Check PAWL_NEO4J_USER, PAWL_NEO4J_PASSWORD and the error of Neo4j, then retry.',
  },
} as const satisfies Record<string, FailureRow>;
