/** `pawl/ai`: a corpus as a tool of the AI SDK. Needs `ai`. */
import { jsonSchema, tool } from 'ai';
import { type CorpusSearch, type PassageSource, type Searching, sourceOf } from './searching.ts';

export type { CorpusSearch, PassageSource };

export interface SearchToolInput extends CorpusSearch {
  /** What the corpus holds, for the model: when to search it. */
  readonly description?: string | undefined;
}

export interface FoundPassage extends PassageSource {
  readonly text: string;
}

/** The model chooses the query; corpus, filter and number of passages are yours. */
export function searchTool(
  pawl: Searching,
  { corpus, description = `Searches the corpus ${corpus}.`, ...options }: SearchToolInput,
) {
  return tool({
    description: `${description} Returns passages with their sources; cite the sources.`,
    inputSchema: jsonSchema<{ readonly query: string }>({
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to look for, in words of the documents.' },
      },
      required: ['query'],
      additionalProperties: false,
    }),
    execute: async ({ query }): Promise<readonly FoundPassage[]> => {
      const hits = await pawl.search(corpus, query, options);
      return hits.map((hit) => ({ text: hit.text, ...sourceOf(hit) }));
    },
  });
}
