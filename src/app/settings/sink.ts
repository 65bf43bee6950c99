/** The settings of vector search, sinks and blob storage. */
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
  readonly bucketRegion: string;
  readonly bucketKeyId: string | undefined;
  readonly bucketSecret: string | undefined;
  readonly bucketSession: string | undefined;
}

const oneWord = (text: string): string | undefined => (/^\S+$/.test(text) ? text : undefined);

/** Without user, query or fragment. */
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
      'Whether Postgres searches vectors with pgvector. Off: each process searches them in ' +
      'memory.',
    parse: (text) => (text === 'auto' || text === 'off' ? text : undefined),
  },
  qdrantUrl: {
    variable: 'PAWL_QDRANT_URL',
    initial: undefined,
    form: 'an http or https address such as http://127.0.0.1:6333',
    meaning: 'A Qdrant to store and search vectors. Absent: vectors are in the store.',
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
    meaning: 'The prefix of collection names. Two stores on one Qdrant need different prefixes.',
    parse: (text) => (/^[a-z0-9._-]{1,32}$/.test(text) ? text : undefined),
  },
  neo4jUrl: {
    variable: 'PAWL_NEO4J_URL',
    initial: undefined,
    form: 'an address such as neo4j://host:7687, bolt://host:7687 or neo4j+s://host',
    meaning:
      'A Neo4j that receives entities and their relations. Absent: they are only in the store.',
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
    meaning: 'The password of that user. Absent: no password is sent.',
    isSecret: true,
    parse: (text) => text,
  },
  neo4jDatabase: {
    variable: 'PAWL_NEO4J_DATABASE',
    initial: undefined,
    form: 'the name of a database',
    meaning: 'The database of that Neo4j. Absent: the default database of the user.',
    parse: (text) => (/^[A-Za-z0-9][A-Za-z0-9.-]{2,62}$/.test(text) ? text : undefined),
  },
  blobUrl: {
    variable: 'PAWL_BLOB_URL',
    initial: undefined,
    form: 'file:FOLDER, or s3://BUCKET or s3://BUCKET/PREFIX',
    meaning: 'Where fetched bytes are stored. Absent: in `blobs` below `PAWL_DATA`.',
    parse: (text) =>
      /^(?:file:.+|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w./-]*)?)$/.test(text)
        ? text
        : undefined,
  },
  blobEndpoint: {
    variable: 'PAWL_BLOB_ENDPOINT',
    initial: undefined,
    form: 'an http or https address such as http://127.0.0.1:9000',
    meaning: 'The server of the bucket, if it is not Amazon. The bucket name is part of the path.',
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
    meaning: 'The session token of a temporary key.',
    isSecret: true,
    parse: oneWord,
  },
  bucketRegion: {
    variable: 'PAWL_BUCKET_REGION',
    initial: 'us-east-1',
    form: 'the name of a region',
    meaning: 'The region of buckets that corpora follow.',
    parse: (text) => (/^[a-z0-9-]+$/.test(text) ? text : undefined),
  },
  bucketKeyId: {
    variable: 'PAWL_BUCKET_KEY_ID',
    initial: undefined,
    form: 'one word',
    meaning: 'The id of the key for buckets that corpora follow.',
    isSecret: true,
    parse: oneWord,
  },
  bucketSecret: {
    variable: 'PAWL_BUCKET_SECRET',
    initial: undefined,
    form: 'one word',
    meaning: 'The secret of that key.',
    isSecret: true,
    parse: oneWord,
  },
  bucketSession: {
    variable: 'PAWL_BUCKET_SESSION',
    initial: undefined,
    form: 'one word',
    meaning: 'The session token of a temporary key.',
    isSecret: true,
    parse: oneWord,
  },
};
