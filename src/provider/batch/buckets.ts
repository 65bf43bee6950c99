/**
 * Amazon and Google read recordings with the operator's own rights. Whoever may submit a task must
 * not thereby read every bucket that the operator can: only those that the operator has named.
 */
import type { BatchProvider } from './batch-provider.ts';

export function withinBuckets(provider: BatchProvider, buckets: readonly string[]): BatchProvider {
  return {
    ...provider,
    refuses: (source) => provider.refuses?.(source) ?? strange(source, buckets),
  };
}

function strange(source: string, buckets: readonly string[]): string | undefined {
  const [, bucket = ''] = /^\w+:\/\/([^/]+)\/./.exec(source) ?? [];
  return buckets.includes(bucket)
    ? undefined
    : `the bucket ${bucket} is not among the buckets of its entry in PAWL_BATCH_PROVIDERS`;
}
