/** The settings of what is searched by vectors, and of what is kept outside the store. */
import type { Setting } from './settings.ts';

export interface SinkConfig {
  readonly pgvector: 'auto' | 'off';
  readonly qdrantUrl: string | undefined;
  readonly qdrantKey: string | undefined;
  readonly qdrantPrefix: string;
  readonly neo4jUrl: string | undefined;
  readonly neo4jUser: string;
  readonly neo4jPassword: string | undefined;
  readonly neo4jDatabase: string | undefined;
  readonly blobUrl: string | undefined;
  readonly blobEndpoint: string | undefined;
  readonly blobRegion: string;
  readonly blobKeyId: string | undefined;
  readonly blobSecret: string | undefined;
  readonly blobSession: string | undefined;
}

const oneWord = (text: string): string | undefined => (/^\S+$/.test(text) ? text : undefined);

/** Without a user, a query or a fragment. */
const plainAddress = (text: string): string | undefined => {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol);
  return isPlain && url.href === `${url.origin}${url.pathname}` ? text : undefined;
};

export const sinkSettings: { readonly [K in keyof SinkConfig]: Setting<K> } = {
  pgvector: {
    variable: 'PAWL_PGVECTOR',
    initial: 'auto',
    form: '`auto` or `off`',
    meaning:
      'Whether a Postgres that has pgvector searches vectors itself. Off: each process does, in ' +
      'its memory.',
    parse: (text) => (text === 'auto' || text === 'off' ? text : undefined),
  },
  qdrantUrl: {
    variable: 'PAWL_QDRANT_URL',
    initial: undefined,
    form: 'an http or https address such as http://127.0.0.1:6333',
    meaning: 'A Qdrant that vectors are delivered to, and searched in. Absent: the store has them.',
    isSecret: true,
    parse: plainAddress,
  },
  qdrantKey: {
    variable: 'PAWL_QDRANT_KEY',
    initial: undefined,
    form: 'one word',
    meaning: 'The key for that Qdrant, if it needs one.',
    isSecret: true,
    parse: oneWord,
  },
  qdrantPrefix: {
    variable: 'PAWL_QDRANT_PREFIX',
    initial: 'pawl',
    form: '1 to 32 of a-z, 0-9, dot, dash and underscore',
    meaning: 'What the names of collections begin with. Two stores on one Qdrant need two of them.',
    parse: (text) => (/^[a-z0-9._-]{1,32}$/.test(text) ? text : undefined),
  },
  neo4jUrl: {
    variable: 'PAWL_NEO4J_URL',
    initial: undefined,
    form: 'an address such as neo4j://host:7687, bolt://host:7687 or neo4j+s://host',
    meaning: 'A Neo4j that entities and their relations are delivered to. Absent: only the store.',
    isSecret: true,
    parse: (text) =>
      /^(?:neo4j|bolt)(?:\+s|\+ssc)?:\/\/[^@\s]+$/.test(text) && URL.canParse(text)
        ? text
        : undefined,
  },
  neo4jUser: {
    variable: 'PAWL_NEO4J_USER',
    initial: 'neo4j',
    form: 'one word',
    meaning: 'The user of that Neo4j.',
    parse: oneWord,
  },
  neo4jPassword: {
    variable: 'PAWL_NEO4J_PASSWORD',
    initial: undefined,
    form: 'the password',
    meaning: 'The password of that user. Absent: Neo4j is asked without one.',
    isSecret: true,
    parse: (text) => text,
  },
  neo4jDatabase: {
    variable: 'PAWL_NEO4J_DATABASE',
    initial: undefined,
    form: 'the name of a database',
    meaning: "Which of its databases. Absent: the user's own.",
    parse: (text) => (/^[A-Za-z0-9][A-Za-z0-9.-]{2,62}$/.test(text) ? text : undefined),
  },
  blobUrl: {
    variable: 'PAWL_BLOB_URL',
    initial: undefined,
    form: 'file:FOLDER, or s3://BUCKET or s3://BUCKET/PREFIX',
    meaning: 'Where the fetched bytes are kept. Absent: in `blobs` below `PAWL_DATA`.',
    parse: (text) =>
      /^(?:file:.+|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w./-]*)?)$/.test(text)
        ? text
        : undefined,
  },
  blobEndpoint: {
    variable: 'PAWL_BLOB_ENDPOINT',
    initial: undefined,
    form: 'an http or https address such as http://127.0.0.1:9000',
    meaning: "The server of the bucket, where it is not Amazon's own: the bucket is in the path.",
    isSecret: true,
    parse: plainAddress,
  },
  blobRegion: {
    variable: 'PAWL_BLOB_REGION',
    initial: 'us-east-1',
    form: 'the name of a region',
    meaning: 'The region of the bucket.',
    parse: (text) => (/^[a-z0-9-]+$/.test(text) ? text : undefined),
  },
  blobKeyId: {
    variable: 'PAWL_BLOB_KEY_ID',
    initial: undefined,
    form: 'one word',
    meaning: 'The id of the key for the bucket.',
    isSecret: true,
    parse: oneWord,
  },
  blobSecret: {
    variable: 'PAWL_BLOB_SECRET',
    initial: undefined,
    form: 'one word',
    meaning: 'The secret of that key.',
    isSecret: true,
    parse: oneWord,
  },
  blobSession: {
    variable: 'PAWL_BLOB_SESSION',
    initial: undefined,
    form: 'one word',
    meaning: 'The session token, where the key is a temporary one.',
    isSecret: true,
    parse: oneWord,
  },
};
