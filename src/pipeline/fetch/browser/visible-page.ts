/** The page after its scripts have run, if it needs that and a browser is available. */
import type { Content } from '../http/content.ts';
import type { RobotsCheck } from '../robots/robots-check.ts';
import type { FetchResponse } from '../verdict.ts';
import { meterHere, type PageMeter, type Renderer, type RenderWhen } from './render.ts';

export interface Rendering {
  readonly renderer: Renderer;
  readonly when: RenderWhen;
  /** This thread judges pages if absent. */
  readonly meter?: PageMeter | undefined;
}

/** The page to use: as fetched, or as rendered. */
export interface VisiblePage {
  readonly answer: FetchResponse;
  readonly content: Content;
  readonly isRendered: boolean;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface VisiblePageInput {
  readonly answer: FetchResponse;
  readonly content: Content;
  readonly rendering: Rendering | undefined;
  readonly robots: RobotsCheck;
  readonly signal: AbortSignal;
}

export async function visiblePage(input: VisiblePageInput): Promise<VisiblePage> {
  const { answer, content, rendering, robots, signal } = input;
  const fetched = { answer, content, isRendered: false, detail: {} };
  if (!rendering || content.mediaType !== 'text/html') return fetched;
  const { when, meter = meterHere } = rendering;
  if (when === 'needed' && !(await meter.isShell(content.bytes, signal))) return fetched;
  const { url, headers } = answer;
  const rendered = await rendering.renderer.render({
    url,
    headers,
    bytes: content.bytes,
    signal,
    admit: (hop) => robots.admitBeside(hop),
  });
  const { requests, refused } = rendered;
  const detail = { rendered: { requests, refused, bytes: rendered.bytes } };
  const page = { mediaType: 'text/html', bytes: Buffer.from(rendered.html), charset: 'utf-8' };
  const [words, fetchedWords] = await Promise.all(
    [page, content].map(({ bytes }) => meter.words(bytes, signal)),
  );
  // If the scripts only removed text, the fetched page is better.
  if ((words ?? 0) < (fetchedWords ?? 0)) return { ...fetched, detail };
  return { answer: { ...answer, url: rendered.url }, content: page, isRendered: true, detail };
}
