/** Each service has its own capacity, so each has its own pool of counted requests. */
export type Pool = 'jobs' | 'scrape' | 'chunk' | 'embed';

/**
 * Search costs as much as embedding. A queued request is mostly a page; a service whose queue holds
 * texts names its own pool. All other routes belong to the jobs pool.
 */
const poolOfPath: Readonly<Record<string, Pool>> = {
  '/scrape': 'scrape',
  '/enqueue': 'scrape',
  '/enqueue/:id': 'scrape',
  '/chunk': 'chunk',
  '/embed': 'embed',
  '/search': 'embed',
};

/** Takes a route with or without method: `POST /search` and `/search` are the same. */
export function poolOf(route: string): Pool {
  const path = route.replace(/^[A-Z]+ /, '');
  return Object.hasOwn(poolOfPath, path) ? (poolOfPath[path] ?? 'jobs') : 'jobs';
}
