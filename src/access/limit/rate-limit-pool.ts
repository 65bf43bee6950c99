/** Each service has a capacity of its own, so each has a pool in which requests are counted. */
export type Pool = 'jobs' | 'scrape' | 'chunk' | 'embed';

/**
 * Searching costs what embedding costs. What is put on a queue is mostly a page; the service whose
 * queue holds texts says so itself. All that is not named belongs to the jobs.
 */
const poolOfPath: Readonly<Record<string, Pool>> = {
  '/scrape': 'scrape',
  '/enqueue': 'scrape',
  '/enqueue/:id': 'scrape',
  '/chunk': 'chunk',
  '/embed': 'embed',
  '/search': 'embed',
};

/** Takes a route with its method or without: `POST /search` and `/search` are the same. */
export function poolOf(route: string): Pool {
  const path = route.replace(/^[A-Z]+ /, '');
  return Object.hasOwn(poolOfPath, path) ? (poolOfPath[path] ?? 'jobs') : 'jobs';
}
