/** `pawl/llamaindex`: a corpus as a retriever of LlamaIndex. Needs `@llamaindex/core`. */
import type { QueryBundle } from '@llamaindex/core/query-engine';
import { BaseRetriever } from '@llamaindex/core/retriever';
import { type NodeWithScore, TextNode } from '@llamaindex/core/schema';
import { extractText } from '@llamaindex/core/utils';
import { type CorpusSearch, type PassageSource, type Searching, sourceOf } from './searching.ts';

export type { CorpusSearch, PassageSource };

export interface PawlRetrieverInput extends CorpusSearch {
  readonly pawl: Searching;
}

export class PawlRetriever extends BaseRetriever {
  readonly #input: PawlRetrieverInput;

  constructor(input: PawlRetrieverInput) {
    super();
    this.#input = input;
  }

  override async _retrieve({ query }: QueryBundle): Promise<NodeWithScore[]> {
    const { pawl, corpus, ...options } = this.#input;
    const hits = await pawl.search(corpus, extractText(query), options);
    return hits.map((hit) => {
      const { score, ...metadata } = sourceOf(hit);
      return { node: new TextNode({ id_: hit.chunkId, text: hit.text, metadata }), score };
    });
  }
}
