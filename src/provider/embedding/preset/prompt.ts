/**
 * The prompts that the authors of models publish for retrieval. Servers like Ollama and vLLM do not
 * add them, nor does Gemini for its second model. A model that is not listed gets none.
 */
import type { TextUse } from './wire.ts';

type Prompts = Readonly<Record<TextUse, string>>;

const forSearching = 'Represent this sentence for searching relevant passages: ';

const prompts: readonly (readonly [model: RegExp, prompts: Prompts])[] = [
  [/nomic-embed-text/, { document: 'search_document: ', query: 'search_query: ' }],
  [/(?:^|[/-])e5-(?:small|base|large)/, { document: 'passage: ', query: 'query: ' }],
  [/arctic-embed.*(?:2\.0|v2|embed2)/, { document: '', query: 'query: ' }],
  [/mxbai-embed-large|arctic-embed/, { document: '', query: forSearching }],
  [/bge-(?:small|base|large)-en/, { document: '', query: forSearching }],
  [
    /embeddinggemma|gemini-embedding-2/,
    { document: 'title: none | text: ', query: 'task: search result | query: ' },
  ],
];

export function promptOf(model: string, use: TextUse): string {
  const name = model.toLowerCase();
  return prompts.find(([pattern]) => pattern.test(name))?.[1][use] ?? '';
}
