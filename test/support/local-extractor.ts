/** Finds entities by rules, as Pawl does. One for a whole file: its lists take a while to read. */
import { localExtractor } from '../../src/pipeline/entity/local-extractor.ts';

export const extractor = localExtractor();
