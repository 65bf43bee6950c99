/** Who may import whom, and which package enters where. */

/** Arrows point down: kernel ← observe ← ports ← pipeline ← engine ← its users ← api ← main. */
const ports = ['store', 'queue', 'provider', 'sink', 'blob'];
const belowEngine = ['kernel', 'observe', ...ports, 'pipeline'];
const belowApi = [...belowEngine, 'engine'];
export const imports = {
  folders: {
    kernel: [],
    observe: ['kernel'],
    store: ['kernel', 'observe'],
    queue: ['kernel', 'observe'],
    provider: ['kernel', 'observe'],
    sink: ['kernel', 'observe'],
    blob: ['kernel', 'observe', 'provider/batch/signature.ts'],
    // Steps know ports, never adapters; main chooses those.
    pipeline: [
      'kernel',
      'observe',
      'store',
      'provider/budget.ts',
      'provider/completion.ts',
      'provider/embedding.ts',
      'provider/prices.ts',
      'provider/vector-bytes.ts',
      'sink/sink.ts',
      'blob/blob.ts',
    ],
    engine: belowEngine,
    attempt: belowApi,
    search: belowApi,
    access: belowApi,
    // Between a step and the service that does its work in another process.
    handoff: belowApi,
    api: [...belowApi, 'attempt', 'search', 'access', 'handoff', 'sources.ts'],
    // In the browser, too: nothing but types from elsewhere.
    client: ['kernel', 'api'],
    cli: [
      ...belowApi,
      'search',
      'access',
      'api',
      'client',
      'index.ts',
      'config.ts',
      'service.ts',
      'role-service.ts',
      'orchestrator-service.ts',
      'roles.ts',
      'sources.ts',
      'world.ts',
      'batch-providers.ts',
      'models.ts',
      'sinks.ts',
      'blobs.ts',
      'redis-settings.ts',
    ],
  },
  rootFiles: {
    'src/config.ts': ['kernel/failure.ts', 'settings.ts'],
    'src/settings.ts': [
      'kernel/limits.ts',
      'setting-forms.ts',
      'rate-settings.ts',
      'redis-settings.ts',
      'service-settings.ts',
      'sink-settings.ts',
    ],
    'src/rate-settings.ts': ['kernel/limits.ts', 'setting-forms.ts', 'settings.ts'],
    'src/redis-settings.ts': ['settings.ts'],
    'src/service-settings.ts': ['setting-forms.ts'],
    'src/sink-settings.ts': ['settings.ts'],
    'src/setting-forms.ts': ['kernel/limits.ts'],
  },
  packages: {
    pg: ['store'],
    bullmq: ['queue'],
    ioredis: ['access', 'queue'],
    'neo4j-driver': ['sink'],
    'playwright-core': ['pipeline/fetch'],
    'gpt-tokenizer': ['pipeline/chunk'],
    tldts: ['pipeline'],
    undici: ['pipeline', 'provider', 'blob'],
    // Never installed by Pawl: whoever wants it puts it beside.
    'onnxruntime-node': ['provider'],
    '@mozilla/readability': ['pipeline'],
    htmlparser2: ['pipeline'],
    '@llamaindex/liteparse': ['pipeline/extract/format'],
    '@tesseract.js-data/eng': ['pipeline/extract/format'],
    hucre: ['pipeline/extract/format'],
    mammoth: ['pipeline/extract/format'],
    papaparse: ['pipeline/extract/format'],
    'postal-mime': ['pipeline/extract/format'],
    yaml: ['pipeline/extract/format'],
    fastify: ['api', 'service-parts.ts'],
    '@fastify/multipart': ['api'],
    typebox: ['api', 'cli'],
    '@modelcontextprotocol/server': ['cli'],
    'prom-client': ['api'],
    'node:sqlite': ['store'],
    'node:child_process': ['pipeline', 'engine', 'main.ts', 'cli.ts'],
    'node:http': ['api', 'main.ts', 'cli.ts'],
  },
  pureFolders: { kernel: ['node:assert'] },
};

const tanstack = ['query', 'router', 'virtual'].map((name) => `@tanstack/react-${name}`);
export const webImports = {
  packages: ['react', 'react-dom', ...tanstack],
  sources: ['kernel', 'client'],
  typesOnly: ['api/contract.ts', 'api/schema.ts'],
};
