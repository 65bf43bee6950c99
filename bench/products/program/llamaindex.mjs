// LlamaIndex.TS: reader, splitter and embedder in an ingestion pipeline with a document store.
import { OpenAIEmbedding } from '@llamaindex/openai';
import { PGVectorStore, PostgresDocumentStore } from '@llamaindex/postgres';
import { SimpleDirectoryReader } from '@llamaindex/readers/directory';
import { HTMLReader } from '@llamaindex/readers/html';
import { MarkdownReader } from '@llamaindex/readers/markdown';
import { DocStoreStrategy, IngestionPipeline, SentenceSplitter, Settings } from 'llamaindex';

const [folder] = process.argv.slice(2);
const clientConfig = { connectionString: process.env.DATABASE_URL };
Settings.embedModel = new OpenAIEmbedding({ model: process.env.EMBEDDING_MODEL });

const documents = await new SimpleDirectoryReader().loadData({
  directoryPath: folder,
  fileExtToReader: { html: new HTMLReader(), md: new MarkdownReader() },
});
const pipeline = new IngestionPipeline({
  transformations: [new SentenceSplitter({ chunkOverlap: 0 }), Settings.embedModel],
  docStore: new PostgresDocumentStore({ clientConfig }),
  vectorStore: new PGVectorStore({ clientConfig, tableName: 'chunks' }),
  docStoreStrategy: DocStoreStrategy.UPSERTS,
});
await pipeline.run({ documents });
process.exit(0);
