/** The chunking service chunks texts; a text that is too large for a request is chunked here. */

import { Failure, type FailureCode, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type Chunking, defaultChunking, storedChunking } from '../../kernel/text/chunking.ts';
import type { Chunker } from '../../pipeline/chunk/chunker.ts';
import type { NewChunk } from '../../store/document/chunks.ts';
import type { Json } from '../request.ts';
import { Shape } from '../shape.ts';
import type { Post } from '../worker/orchestrator-client.ts';

export function remoteChunker(post: Post, here: Chunker): Chunker {
  return async (text, signal, chunking) => {
    const isHere = text === '' || Buffer.byteLength(text) > limits.handoff.bytesMax;
    if (isHere) return here(text, signal, chunking);
    const body = await postText(post, { text, ...wireOf(chunking) }, signal);
    if (!body) return here(text, signal, chunking);
    const answer = new Shape(body, 'chunk');
    return answer.list('chunks').map((chunk) => readChunk(new Shape(chunk, 'chunk')));
  };
}

/** The default is not sent: a service of an older version refuses fields that it does not know. */
function wireOf(chunking: Chunking = defaultChunking) {
  if (storedChunking(chunking) === null) return {};
  return { chunk_tokens: chunking.tokensMax, chunk_overlap_tokens: chunking.overlapTokens };
}

const awayCodes: readonly FailureCode[] = ['network_error', 'provider_unavailable'];
/** The service is up, but the text exceeds its time or size limits. */
const tooMuchCodes: readonly FailureCode[] = ['timeout_soft', 'payload_too_large'];

/**
 * A service that is away is waited for: that is not the document's fault. Undefined: it is up, and
 * this text is too large for it.
 */
async function postText(post: Post, request: Json, signal: AbortSignal) {
  try {
    return await post('/chunk', request, signal);
  } catch (error) {
    signal.throwIfAborted();
    const failure = toFailure(error);
    if (tooMuchCodes.includes(failure.code)) return undefined;
    if (!awayCodes.includes(failure.code)) throw failure;
    const message = `the chunking service is away: ${failure.message}`;
    const retryAfterMs = limits.handoff.awayMs;
    throw new Failure('service_busy', message, { retryAfterMs, cause: error });
  }
}

function readChunk(shape: Shape): NewChunk {
  return {
    key: shape.text('chunk_id'),
    ordinal: shape.number('ordinal'),
    heading: shape.text('heading'),
    text: shape.text('text'),
    startOffset: shape.number('start_offset'),
    endOffset: shape.number('end_offset'),
    tokenCount: shape.number('tokens'),
  };
}
