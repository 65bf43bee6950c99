/** The page after its scripts have run, if it needs that and a browser is available. */
import type { Content } from '../http/content.ts';
import type { RobotsCheck } from '../robots/robots-check.ts';
import type { FetchResponse } from '../verdict.ts';
import { needsRendering, type Renderer, type RenderWhen, wordsOf } from './render.ts';

export interface Rendering {
  readonly renderer: Renderer;
  readonly when: RenderWhen;
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
  const html = new TextDecoder().decode(content.bytes);
  if (!needsRendering(html, rendering.when)) return fetched;
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
  // If the scripts only removed text, the fetched page is better.
  if (wordsOf(rendered.html) < wordsOf(html)) return { ...fetched, detail };
  const page = { mediaType: 'text/html', bytes: Buffer.from(rendered.html), charset: 'utf-8' };
  return { answer: { ...answer, url: rendered.url }, content: page, isRendered: true, detail };
}
