/** The tools that read documents: fetcher, browser, parser, threads for text, and models. */
import { thisProcess } from '../engine/item/liveness.ts';
import type { World } from '../kernel/world.ts';
import { type ProcessParser, processParser } from '../pipeline/extract/process/process-parser.ts';
import { type AllowedHosts, allowedHosts } from '../pipeline/fetch/address.ts';
import { ChromiumRenderer } from '../pipeline/fetch/browser/browser.ts';
import { findBrowser } from '../pipeline/fetch/browser/launch.ts';
import type { PageMeter } from '../pipeline/fetch/browser/render.ts';
import type { Rendering } from '../pipeline/fetch/browser/visible-page.ts';
import { type Fetcher, httpFetcher } from '../pipeline/fetch/http/http.ts';
import { Preview } from '../pipeline/preview.ts';
import { TextThreads } from '../pipeline/thread/text-threads.ts';
import type { Completer } from '../provider/completion/completion.ts';
import { completerOf, type Embedders, embeddersFor, extractorSettings } from './adapter/models.ts';
import type { AssembleOptions } from './options.ts';
import { realWorld } from './world.ts';

/** What reads pages and files. */
export interface ReadingTools {
  readonly allowed: AllowedHosts;
  readonly fetcher: Fetcher;
  /** Undefined: no scripts of pages are run. */
  readonly rendering: Rendering | undefined;
  readonly parser: ProcessParser;
}

export interface Tools extends ReadingTools {
  readonly texts: TextThreads;
  readonly embedders: Embedders;
  /** The model that finds entities; undefined: rules and lists find them. */
  readonly completer: Completer | undefined;
  close(): Promise<void>;
}

type ReadingOptions = Pick<AssembleOptions, 'allowHosts' | 'browser' | 'render'>;
type ToolOptions = ReadingOptions & Pick<AssembleOptions, 'embedder' | 'extractor' | 'onCall'>;

export function openTools(options: ToolOptions, world: World): Tools {
  const { embedder = { choice: 'local' }, extractor, onCall } = options;
  const embedders = embeddersFor(embedder, world, onCall);
  const asked = extractorSettings(extractor);
  const completer = asked && completerOf(asked, { world, onCall });
  const texts = new TextThreads(world);
  const reading = readingTools(options, world, texts.meter);
  const close = async (): Promise<void> => {
    await Promise.all([closeReading(reading), texts.close()]);
    // Answers that are already paid for are awaited and stored.
    await Promise.all([embedders.close(), completer?.close?.()]);
  };
  return { ...reading, texts, embedders, completer, close };
}

/** Checks that the browser exists. It is started with the first page that needs it. */
function readingTools(options: ReadingOptions, world: World, meter?: PageMeter): ReadingTools {
  const { allowHosts = [], browser = 'off', render: when = 'needed' } = options;
  const allowed = allowedHosts(allowHosts);
  const fetcher = httpFetcher({ world, allowed });
  const executable = findBrowser(browser);
  const rendering =
    executable === undefined
      ? undefined
      : { renderer: new ChromiumRenderer({ executable, fetcher, world }), when, meter };
  const parser = processParser({ world, owner: thisProcess() });
  return { allowed, fetcher, rendering, parser };
}

async function closeReading({ parser, rendering }: ReadingTools): Promise<void> {
  await Promise.all([parser.close(), rendering?.renderer.close()]);
}

export interface AssembledPreview {
  readonly preview: Preview;
  close(): Promise<void>;
}

/** Reads documents without a store. */
export function assemblePreview(
  options: ReadingOptions & Pick<AssembleOptions, 'world'>,
): AssembledPreview {
  const { world = realWorld() } = options;
  const reading = readingTools(options, world);
  return { preview: previewOf(reading, world), close: () => closeReading(reading) };
}

export function previewOf({ fetcher, parser, rendering }: ReadingTools, world: World): Preview {
  return new Preview({ fetcher, parser: parser.parse, world, rendering });
}
