/** Requests as lines of JSON, in memory, up to the file size limit of providers. */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { JsonObject } from '../../kernel/provider-state.ts';
import type { BatchRequest } from './batch-provider.ts';

export async function gatherLines(
  requests: AsyncIterable<BatchRequest>,
  lineOf: (request: BatchRequest) => JsonObject,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const request of requests) {
    const line = Buffer.from(`${JSON.stringify(lineOf(request))}\n`);
    bytes += line.length;
    if (bytes > limits.batch.requestBytesMax) {
      const most = `${limits.batch.requestBytesMax} bytes`;
      const message = `the requests are more than ${most}: submit them as several tasks`;
      throw new Failure('payload_too_large', message);
    }
    parts.push(line);
  }
  return Buffer.concat(parts);
}
