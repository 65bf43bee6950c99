/** Which folder may import which, and where each package may be imported. */

/**
 * Arrows point down: kernel ← observe ← ports ← pipeline ← engine ← its users ← contract ← service
 * ← http ← app ← library ← cli.
 */
const below = ['kernel', 'concurrency', 'observe'];
const ports = ['store', 'queue', 'redis', 'provider', 'sink', 'blob'];
const belowEngine = [...below, ...ports, 'pipeline'];
const belowService = [...belowEngine, 'engine'];
const users = ['attempt', 'search', 'access', 'handoff', 'webhook', 'source'];
export const imports = {
  folders: {
    kernel: [],
    concurrency: ['kernel'],
    observe: ['kernel'],
    store: below,
    redis: below,
    queue: [...below, 'redis'],
    provider: below,
    sink: below,
    blob: [...below, 'provider/batch/signature.ts'],
    // Steps import ports, never adapters; the composition root chooses those.
    pipeline: [
      ...below,
      'store',
      'provider/completion/completion.ts',
      'provider/embedding/embedding.ts',
      'provider/embedding/vector-bytes.ts',
      'provider/prices.ts',
      'provider/rate-limit.ts',
      'sink/sink.ts',
      'blob/blob.ts',
    ],
    engine: belowEngine,
    attempt: belowService,
    search: belowService,
    access: belowService,
    webhook: belowService,
    source: [...belowEngine, 'engine/sync/source-kind.ts'],
    // What users plug in, adapted to the ports inside.
    port: [...belowEngine, 'search/rerank.ts'],
    // Adapters for frameworks, each an entry point of its own.
    framework: ['index.ts'],
    // Suites that users run on parts of their own.
    testing: [
      'kernel',
      'blob/blob.ts',
      'sink/sink.ts',
      'pipeline',
      'port',
      'provider/batch/batch-provider.ts',
      'provider/batch/check-provider.ts',
      'engine/sync/source-kind.ts',
      'index.ts',
    ],
    // Between a step and the service that runs it in another process.
    handoff: belowService,
    contract: [...belowService, 'attempt', 'search'],
    service: [...belowService, ...users, 'contract'],
    http: [...belowService, ...users, 'contract', 'service'],
    // Also runs in the browser.
    client: ['kernel', 'contract'],
    library: [...belowService, ...users, 'port', 'contract', 'service', 'app'],
    app: [
      ...belowService,
      ...users,
      'port',
      'contract',
      'service',
      'http',
      'library',
      'mcp',
      'index.ts',
    ],
    mcp: ['kernel', 'access', 'contract', 'service'],
    cli: [
      ...belowService,
      'search',
      'access',
      'source',
      'contract',
      'service',
      'client',
      'mcp',
      'app',
      'library/internal.ts',
      'index.ts',
    ],
  },
  files: {
    'src/app/settings/config.ts': [
      'kernel/failure/failure.ts',
      'kernel/text/closest-name.ts',
      'app/settings',
    ],
    'src/app/settings/settings.ts': [
      'kernel/limits/limits.ts',
      'kernel/name/embedder-vendor.ts',
      'app/settings',
    ],
  },
  packages: {
    pg: ['store'],
    bullmq: ['queue'],
    ioredis: ['access', 'queue', 'redis'],
    'neo4j-driver': ['sink'],
    'playwright-core': ['pipeline/fetch'],
    tldts: ['pipeline'],
    undici: ['pipeline', 'provider', 'blob'],
    // Optional: loaded by the entry points that users import.
    '@langchain/core': ['framework/langchain.ts'],
    '@llamaindex/core': ['framework/llamaindex.ts'],
    ai: ['framework/ai.ts'],
    // Optional: Pawl never installs it.
    'onnxruntime-node': ['provider'],
    '@mozilla/readability': ['pipeline'],
    '@orama/stemmers': ['pipeline/word'],
    htmlparser2: ['pipeline'],
    '@llamaindex/liteparse': ['pipeline/extract/format'],
    '@tesseract.js-data/eng': ['pipeline/extract/format'],
    hucre: ['pipeline/extract/format'],
    mammoth: ['pipeline/extract/format'],
    papaparse: ['pipeline/extract/format'],
    'postal-mime': ['pipeline/extract/format'],
    yaml: ['pipeline/extract/format'],
    fastify: ['http', 'service', 'contract/validation.ts', 'app/role/http-bootstrap.ts'],
    '@fastify/multipart': ['http', 'service'],
    typebox: ['contract', 'service', 'http', 'mcp', 'library/call'],
    '@modelcontextprotocol/server': ['mcp', 'cli/command/mcp.ts'],
    'prom-client': ['service'],
    'node:sqlite': ['store'],
    'node:test': ['testing'],
    'node:child_process': ['pipeline', 'engine', 'app', 'cli', 'source/kind/git'],
    'node:http': ['http', 'service', 'app', 'cli'],
  },
  pureFolders: { kernel: ['node:assert'] },
};

const tanstack = ['query', 'router', 'virtual'].map((name) => `@tanstack/react-${name}`);
// Markdown to a syntax tree.
const markdown = [
  ...['mdast', 'mdast-util-from-markdown'],
  ...['mdast-util-gfm-table', 'micromark-extension-gfm-table'],
];
const typeface = '@fontsource-variable/geist';
export const webImports = {
  packages: ['react', 'react-dom', ...tanstack, ...markdown, typeface],
  sources: ['kernel', 'client'],
  typesOnly: ['contract/contract.ts', 'contract/schema/schema.ts'],
};
