/** The rows of the failure table about sinks, and about other parts that users plug in. */
import { row } from './row.ts';

export const sinkFailures = {
  port_failed: row('E_PORT', 'transient', 502, {
    title: 'An added part failed',
    advice: 'Correct the part that your program passes to Pawl, as the message says, then retry.',
  }),
  qdrant_unavailable: row('E_QDRANT', 'transient', 503, {
    title: 'Qdrant unavailable',
    advice: 'Check that Qdrant runs at PAWL_QDRANT_URL, then retry.',
  }),
  // Qdrant is reachable but failed, possibly because of its input.
  qdrant_failed: row('E_QDRANT', 'transient', 502, {
    title: 'Qdrant failed',
    advice: 'Check the log of Qdrant for the error in the message, then retry.',
  }),
  qdrant_refused: row('E_QDRANT', 'fatal', 502, {
    title: 'Qdrant refused the request',
    advice: 'Check PAWL_QDRANT_KEY and the error of Qdrant in the message, then retry.',
  }),
  neo4j_unavailable: row('E_NEO4J', 'transient', 503, {
    title: 'Neo4j unavailable',
    advice: 'Check that Neo4j runs at PAWL_NEO4J_URL, then retry.',
  }),
  neo4j_failed: row('E_NEO4J', 'transient', 502, {
    title: 'Neo4j failed',
    advice: 'Check the log of Neo4j for the error in the message, then retry.',
  }),
  neo4j_write_lock: row('E_NEO4J', 'transient', 503, {
    title: 'Neo4j is locked',
    advice: 'Find the long transaction in Neo4j and end it, then retry.',
  }),
  neo4j_refused: row('E_NEO4J', 'fatal', 502, {
    title: 'Neo4j refused the request',
    advice: 'Check PAWL_NEO4J_USER, PAWL_NEO4J_PASSWORD and the error of Neo4j, then retry.',
  }),
} as const;
