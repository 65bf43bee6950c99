// LangChain.js, after its guides on HTML, splitting and indexing: `node langchain.mjs FOLDER`.
import { DirectoryLoader } from '@langchain/classic/document_loaders/fs/directory';
import { TextLoader } from '@langchain/classic/document_loaders/fs/text';
import { HtmlToTextTransformer } from '@langchain/community/document_transformers/html_to_text';
import { PostgresRecordManager } from '@langchain/community/indexes/postgres';
import { PGVectorStore } from '@langchain/community/vectorstores/pgvector';
import { index } from '@langchain/core/indexing';
import { OpenAIEmbeddings } from '@langchain/openai';
import { RecursiveCharacterTextSplitter } from '@langchain/textsplitters';

const [folder] = process.argv.slice(2);
const postgresConnectionOptions = { connectionString: process.env.DATABASE_URL };

const store = await PGVectorStore.initialize(
  new OpenAIEmbeddings({ model: process.env.EMBEDDING_MODEL }),
  { postgresConnectionOptions, tableName: 'chunks' },
);
const records = new PostgresRecordManager('chunks', { postgresConnectionOptions });
await records.createSchema();

const loader = new DirectoryLoader(folder, {
  '.html': (path) => new TextLoader(path),
  '.md': (path) => new TextLoader(path),
});
const pages = await loader.load();
const isHtml = ({ metadata }) => metadata.source.endsWith('.html');
const texts = [
  ...(await new HtmlToTextTransformer().invoke(pages.filter(isHtml))),
  ...pages.filter((page) => !isHtml(page)),
];
const splitter = RecursiveCharacterTextSplitter.fromLanguage('markdown', { chunkOverlap: 0 });
const chunks = await splitter.invoke(texts);
await index({
  docsSource: chunks,
  recordManager: records,
  vectorStore: store,
  options: { cleanup: 'full', sourceIdKey: 'source' },
});
await store.end();
await records.end();
