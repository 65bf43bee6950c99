import { openQdrantCase } from './sink/qdrant-case.ts';
import { sinkSuite } from './sink-suite.ts';

sinkSuite('Qdrant', 'vectors', { open: openQdrantCase });
