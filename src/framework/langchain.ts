/** `pawl/langchain`: a corpus as a retriever of LangChain. Needs `@langchain/core`. */
import { Document } from '@langchain/core/documents';
import { BaseRetriever, type BaseRetrieverInput } from '@langchain/core/retrievers';
import { type CorpusSearch, type PassageSource, type Searching, sourceOf } from './searching.ts';

export type { CorpusSearch, PassageSource };

export interface PawlRetrieverInput extends CorpusSearch, BaseRetrieverInput {
  readonly pawl: Searching;
}

export class PawlRetriever extends BaseRetriever<PassageSource> {
  static override lc_name(): string {
    return 'PawlRetriever';
  }

  override readonly lc_namespace = ['pawl', 'retrievers'];
  readonly #input: PawlRetrieverInput;

  constructor(input: PawlRetrieverInput) {
    super(input);
    this.#input = input;
  }

  override async _getRelevantDocuments(query: string): Promise<Document<PassageSource>[]> {
    const {
      pawl,
      corpus,
      callbacks: _,
      tags: __,
      metadata: ___,
      verbose: ____,
      ...options
    } = this.#input;
    const hits = await pawl.search(corpus, query, options);
    return hits.map((hit) => {
      return new Document({ id: hit.chunkId, pageContent: hit.text, metadata: sourceOf(hit) });
    });
  }
}
