/**
 * Amazon and Google read recordings with the operator's own permissions. A caller that may submit a
 * task must not thereby read every bucket of the operator: only those that the operator has
 * configured.
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
