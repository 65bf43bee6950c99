/** The page after its scripts have run, if it needs that and a browser is available. */
import type { Content } from '../http/content.ts';
import type { RobotsCheck } from '../robots/robots-check.ts';
import type { Answer } from '../verdict.ts';
import { needsRendering, type Renderer, type RenderWhen, wordsOf } from './render.ts';

export interface Rendering {
  readonly renderer: Renderer;
  readonly when: RenderWhen;
}

/** The page to use: as fetched, or as rendered. */
export interface Shown {
  readonly answer: Answer;
  readonly content: Content;
  readonly isRendered: boolean;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface ShowInput {
  readonly answer: Answer;
  readonly content: Content;
  readonly rendering: Rendering | undefined;
  readonly robots: RobotsCheck;
  readonly signal: AbortSignal;
}

export async function shownPage(input: ShowInput): Promise<Shown> {
  const { answer, content, rendering, robots, signal } = input;
  const asItCame = { answer, content, isRendered: false, detail: {} };
  if (!rendering || content.mediaType !== 'text/html') return asItCame;
  const html = new TextDecoder().decode(content.bytes);
  if (!needsRendering(html, rendering.when)) return asItCame;
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
  if (wordsOf(rendered.html) < wordsOf(html)) return { ...asItCame, detail };
  const shown = { mediaType: 'text/html', bytes: Buffer.from(rendered.html), charset: 'utf-8' };
  return { answer: { ...answer, url: rendered.url }, content: shown, isRendered: true, detail };
}
