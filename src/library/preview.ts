/** Reads sources as a job would, without a store. */
import { type AssembledPreview, assemblePreview } from '../app/tools.ts';
import { toFailure } from '../kernel/failure/failure.ts';
import type { Extracted } from '../pipeline/extract/extract.ts';
import { keptShareOf, warningsOf } from '../pipeline/extract/parsed.ts';
import { plainText } from '../pipeline/extract/plain-text.ts';
import { expandSources, type SourceInput } from '../source/sources.ts';
import { asFailure, Lifetime } from './call/lifetime.ts';
import { checkNames } from './call/names.ts';
import type { ExtractOptions, PreviewOptions } from './options.ts';
import type { Extraction, Preview, Previewed } from './surface.ts';

export function openPreview(options: PreviewOptions = {}): Preview {
  checkNames('openPreview', options, ['allowHosts', 'browser', 'render']);
  const assembled = assemblePreview(options);
  const lifetime = new Lifetime();
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= lifetime.end().then(() => assembled.close());
    return closed;
  };
  return {
    extract: (sources, wanted = {}) => previewed({ assembled, lifetime }, sources, wanted),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Parts {
  readonly assembled: AssembledPreview;
  readonly lifetime: Lifetime;
}

async function* previewed(
  { assembled: { preview }, lifetime }: Parts,
  inputs: readonly SourceInput[],
  options: ExtractOptions,
): AsyncGenerator<Previewed, void, undefined> {
  checkNames('extract', options, ['dropped', 'followLinks', 'onSkipped', 'signal']);
  const { dropped: withDropped = false, signal, ...files } = options;
  const stopping = AbortSignal.any([lifetime.ending, ...(signal ? [signal] : [])]);
  signal?.throwIfAborted();
  lifetime.check();
  for (const from of await asFailure(expandSources(inputs, files))) {
    const { source } = from;
    const reading = async (): Promise<Previewed> => {
      try {
        const extracted = await preview.extract(from, stopping, { withDropped });
        return { source, document: extractionOf(extracted) };
      } catch (error) {
        return { source, failure: toFailure(error) };
      }
    };
    const result = await lifetime.run(reading, signal);
    // A document that close has interrupted has not failed.
    lifetime.check();
    yield result;
  }
}

function extractionOf({ title, language, text: markdown, meta, dropped }: Extracted): Extraction {
  const measured = { keptShare: keptShareOf(meta), warnings: warningsOf(meta) };
  const document = { title, language, text: plainText(markdown), markdown, meta, ...measured };
  return { ...document, ...(dropped && { dropped }) };
}
