/** The products that Pawl is compared with. All of them store into Postgres with pgvector. */
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { installPeers, peerVersions } from '../peers/install.ts';
import { installPython, pythonProgram } from '../peers/python.ts';
import { embeddingModel } from './embedder.ts';
import type { Place, Product, StoredText } from './product.ts';

const programs = fileURLToPath(new URL('./program/', import.meta.url));
const versions = peerVersions(programs);

interface NodePeer {
  readonly name: string;
  /** The packages that its version consists of; all packages are in `program/package.json`. */
  readonly packages: readonly string[];
  readonly setup: string;
  readonly program: string;
  readonly query: string;
}

interface PythonProduct {
  readonly name: string;
  readonly requirements: readonly string[];
  readonly module: string;
  readonly setup: string;
  readonly program: string;
  /** How it is run, if not by the interpreter with the folder as its argument. */
  readonly runner?: { readonly program: string; readonly args: readonly string[] };
  readonly environment: Readonly<Record<string, string>>;
  readonly query: string;
}

const nodePeers: readonly NodePeer[] = [
  {
    name: 'LangChain.js',
    packages: ['@langchain/core', '@langchain/community'],
    setup:
      '`DirectoryLoader`, `HtmlToTextTransformer`, `RecursiveCharacterTextSplitter`, ' +
      '`PGVectorStore`, and `index()` with `PostgresRecordManager` and `cleanup: full`.',
    program: 'langchain.mjs',
    query: `SELECT metadata->>'source' AS page, text FROM chunks`,
  },
  {
    name: 'LlamaIndex.TS',
    packages: ['llamaindex'],
    setup:
      '`SimpleDirectoryReader` with `HTMLReader` and `MarkdownReader`, and `IngestionPipeline` ' +
      'with `SentenceSplitter`, `PGVectorStore`, `PostgresDocumentStore` and upserts.',
    program: 'llamaindex.mjs',
    query: `SELECT metadata->>'file_path' AS page, document AS text FROM chunks`,
  },
];

const pythonPeers: readonly PythonProduct[] = [
  {
    name: 'Haystack',
    requirements: [
      'haystack-ai==3.4.0',
      'pgvector-haystack==8.1.2',
      'trafilatura==2.3.1',
      // A dependency of trafilatura requires an extra that newer versions have renamed.
      'lxml-html-clean==0.4.6',
      'markdown-it-py==4.3.0',
      'mdit-plain==1.0.1',
    ],
    module: 'haystack',
    setup:
      '`HTMLToDocument` (trafilatura), `MarkdownToDocument`, `DocumentCleaner`, ' +
      '`DocumentSplitter`, `PgvectorDocumentStore` and `DuplicatePolicy.OVERWRITE`.',
    program: 'haystack-peer.py',
    environment: { HAYSTACK_TELEMETRY_ENABLED: 'False' },
    query: `SELECT meta->>'file_path' AS page, content AS text FROM chunks`,
  },
  {
    name: 'CocoIndex',
    requirements: [
      'cocoindex[postgres,litellm]==1.0.26',
      'asyncpg==0.32.0',
      'pgvector==0.5.1',
      'markitdown==0.1.8',
    ],
    module: 'cocoindex',
    setup:
      'its text embedding example: a memoized function per file, `RecursiveSplitter`, a Postgres ' +
      'target; HTML by MarkItDown, because it has no reader of its own.',
    program: 'cocoindex-peer.py',
    runner: { program: 'cocoindex', args: ['update', '--quiet'] },
    environment: { COCOINDEX_DISABLE_USAGE_TRACKING: '1' },
    query: 'SELECT source AS page, text FROM chunks',
  },
];

export const peers: readonly Product[] = [
  ...nodePeers.map(
    ({ name, packages, setup, program, query }): Product => ({
      name,
      version: packages.map((each) => `${each} ${versions[each]}`).join(', '),
      setup,
      prepare: () => [...installPeers(programs).values()][0],
      command: (place) => ({
        program: process.execPath,
        args: [join(programs, program), place.pages],
        environment: environmentOf(place),
      }),
      stored: (place) => storedIn(place, query),
    }),
  ),
  ...pythonPeers.map((peer): Product => {
    const { name, requirements, module, setup, program, runner, query } = peer;
    const [main = ''] = requirements;
    const environment = main.replace(/\[.*\]/, '').replace('==', '-');
    return {
      name,
      version: main.replace(/\[.*\]/, '').replace('==', ' '),
      setup,
      prepare: (tell) => installPython({ name: environment, requirements, module, tell }),
      command: (place) => ({
        program: pythonProgram(environment, runner?.program),
        args: [...(runner?.args ?? []), join(programs, program), ...(runner ? [] : [place.pages])],
        environment: { ...environmentOf(place), ...peer.environment },
      }),
      stored: (place) => storedIn(place, query),
    };
  }),
];

function environmentOf(place: Place): Record<string, string> {
  return {
    DATABASE_URL: place.databaseUrl,
    EMBEDDING_MODEL: embeddingModel,
    OPENAI_BASE_URL: place.embedderUrl,
    OPENAI_API_KEY: 'sk-bench',
    FOLDER: place.pages,
    COCOINDEX_DB: join(place.state, 'cocoindex.db'),
    DO_NOT_TRACK: '1',
  };
}

async function storedIn({ databaseUrl }: Place, query: string): Promise<StoredText[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const [found] = (await client.query(`SELECT to_regclass('chunks') AS name`)).rows;
    // Without a table, nothing was stored.
    if (found.name === null) return [];
    const { rows } = await client.query<{ page: string; text: string }>(query);
    return rows.map(({ page, text }) => ({ page: basename(page), text }));
  } finally {
    await client.end();
  }
}
