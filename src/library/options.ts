/** The options of the library. */

import type { PawlOptions } from '../app/options.ts';
import type { SearchFilter, SearchMode, SearchRequest } from '../search/request.ts';
import type { CrawlInput } from '../source/sources.ts';

export interface OpenOptions extends PawlOptions {
  /** False: this process only reads and submits, and other processes do the work. */
  readonly work?: boolean | undefined;
}

export interface IngestOptions {
  readonly corpus: string;
  /** Indexes documents again even if they have not changed. */
  readonly force?: boolean | undefined;
  /** From 0 to 9; higher goes first. */
  readonly priority?: number | undefined;
  /** The most that the job may cost; before it would cost more, it is paused. */
  readonly budgetCents?: number | undefined;
  /** How long the job may run before its unfinished documents fail; 7 days at most. */
  readonly maxWallSeconds?: number | undefined;
  /** `cheap`: the batch lane, where providers take hours and cost less. */
  readonly lane?: 'now' | 'cheap' | undefined;
  /** Crawls from these addresses, and follows links within the site. */
  readonly crawl?: CrawlInput | undefined;
  /** Follows symbolic links that lead out of a folder. */
  readonly followLinks?: boolean | undefined;
  /** Called for each skipped entry of a folder, with the reason. */
  readonly onSkipped?: ((source: string, reason: string) => void) | undefined;
  /** Resumes an unfinished job of the same files, if there is one, instead of adding another. */
  readonly resume?: boolean | undefined;
}

export interface SearchOptions {
  readonly topK?: number | undefined;
  /** Keywords and vectors together by default. */
  readonly mode?: SearchMode | undefined;
  readonly filter?: SearchFilter | undefined;
  /** Adds to each hit the ranks and scores that it got from each list. */
  readonly explain?: boolean | undefined;
  /** Also the nearest passages of a query whose words occur nowhere. */
  readonly near?: boolean | undefined;
  /** The least relevance of a hit, from 0 to 1. */
  readonly minScore?: number | undefined;
  /** For hybrid search; a list without a weight keeps its own. */
  readonly weights?: SearchRequest['weights'];
  /** How many hits to skip. */
  readonly offset?: number | undefined;
  /** False: all passages as ranked. `document`: one hit for each document. */
  readonly group?: SearchRequest['group'];
  /** Counts of the documents that match, in the result of `find`. */
  readonly facets?: SearchRequest['facets'];
  /** `plain`: quotation marks, `-` and `title:` are no operators. */
  readonly syntax?: SearchRequest['syntax'];
}
