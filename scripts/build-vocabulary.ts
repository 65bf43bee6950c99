/**
 * Writes `assets/cl100k-base.bin`, the tokens of `cl100k_base`, from the package `gpt-tokenizer`.
 * The layout is described in `src/pipeline/chunk/token/vocabulary.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(import.meta.resolve('gpt-tokenizer/data/cl100k_base.tiktoken'));
const target = fileURLToPath(new URL('../assets/cl100k-base.bin', import.meta.url));

// Each line is a token, in the order of ranks: its bytes in Base64, a blank, and its rank.
const tokens = readFileSync(source, 'utf8')
  .trim()
  .split('\n')
  .map((line) => Buffer.from(line.split(' ')[0] ?? '', 'base64'));
const sizes = Uint8Array.from(tokens, ({ length }) => length);
writeFileSync(target, Buffer.concat([sizes, ...tokens]));
console.log(`${target}: ${tokens.length} tokens`);
