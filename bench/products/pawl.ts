/** Pawl as a product among the others: its own command, on each of its stores. */
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from '../../src/index.ts';
import { embeddingModel } from './embedder.ts';
import type { Place, Product, StoredText } from './product.ts';

const program = fileURLToPath(new URL('../../bin/pawl', import.meta.url));
const corpus = 'bench';

interface Store {
  readonly name: string;
  environment(place: Place): Readonly<Record<string, string>>;
}

const stores: readonly Store[] = [
  { name: 'SQLite', environment: () => ({}) },
  { name: 'Postgres', environment: ({ databaseUrl }) => ({ PAWL_DATABASE_URL: databaseUrl }) },
];

export const pawlProducts: readonly Product[] = stores.map(({ name, environment }) => ({
  name: `Pawl on ${name}`,
  version: 'this commit',
  setup: `\`pawl ingest FOLDER\` with ${name}; also finds entities and indexes words.`,
  prepare: () => undefined,
  command: (place) => ({
    program: process.execPath,
    args: [program, 'ingest', place.pages, '--corpus', corpus, '--data', join(place.state, 'data')],
    environment: {
      ...environment(place),
      PAWL_EMBEDDER: `openai:${embeddingModel}`,
      PAWL_EMBEDDER_URL: place.embedderUrl,
      PAWL_EMBEDDER_KEY: 'sk-bench',
    },
  }),
  stored: (place) => storedIn(place, environment(place).PAWL_DATABASE_URL),
}));

/** Headings stand beside the text of a chunk, and are embedded with it. */
async function storedIn(place: Place, database: string | undefined): Promise<StoredText[]> {
  const data = join(place.state, 'data');
  await using pawl = await open(database === undefined ? { data } : { data, database });
  const texts: StoredText[] = [];
  for await (const { documentId, sourceUrl, title } of pawl.documents(corpus)) {
    const page = basename(sourceUrl);
    if (title !== null) texts.push({ page, text: `# ${title}` });
    for await (const { text } of pawl.chunks(documentId)) texts.push({ page, text });
  }
  return texts;
}
