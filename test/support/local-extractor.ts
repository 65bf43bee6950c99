/** The rule-based entity extractor. One per file: its lists take a while to read. */
import { localExtractor } from '../../src/pipeline/entity/local-extractor.ts';

export const extractor = localExtractor();
