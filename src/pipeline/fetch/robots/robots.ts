/**
 * robots.txt according to RFC 9309: which group applies to us, and which of its rules decides. The
 * longest rule wins; of two equally long ones, the one that allows. Beyond the RFC, a missing colon
 * and common misspellings are accepted.
 */

import { TimeSlice } from '../../../concurrency/time-slice.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { normalEncoding } from '../url.ts';

export interface Rule {
  readonly isAllowed: boolean;
  /** As it is matched: percent-encoded, with `*` for anything and a final `$` for the end. */
  readonly pattern: string;
}

export interface Robots {
  readonly rules: readonly Rule[];
  /** The total length of the rules. */
  readonly ruleCharacters: number;
  /** The crawl delay of the site. */
  readonly crawlDelayMs: number | undefined;
  readonly sitemaps: readonly string[];
}

export interface RobotsDecision {
  readonly isAllowed: boolean;
  /** The deciding rule as in robots.txt; undefined if none matched. */
  readonly rule: string | undefined;
}

interface Group {
  readonly agents: Set<string>;
  readonly rules: Rule[];
  crawlDelayMs?: number | undefined;
}

type Field = 'agent' | 'allow' | 'disallow' | 'delay' | 'sitemap';

const fields: readonly [pattern: RegExp, field: Field][] = [
  [/^user[- ]?agent$/, 'agent'],
  [/^allow$/, 'allow'],
  [/^(?:disallow|dissallow|dissalow|disalow|diasllow|disallaw)$/, 'disallow'],
  [/^crawl-?delay$/, 'delay'],
  [/^site-?map$/, 'sitemap'],
];

/** Parses the file for one robot, by its product token. */
export function parseRobots(text: string, token: string): Robots {
  const groups: Group[] = [];
  const sitemaps: string[] = [];
  let current: Group | undefined;
  let isNaming = false;
  for (const [field, value] of linesOf(text)) {
    if (field === 'agent') {
      // Consecutive names share the rules that follow them.
      if (!isNaming || !current) {
        current = { agents: new Set(), rules: [] };
        groups.push(current);
      }
      current.agents.add(agentOf(value));
      isNaming = true;
    } else if (value !== '' && field === 'sitemap') {
      sitemaps.push(value);
    } else if (value !== '' && field === 'delay') {
      // Not a field of the RFC, so it does not end the list of names either.
      if (current) current.crawlDelayMs = delayOf(value) ?? current.crawlDelayMs;
    } else if (field === 'allow' || field === 'disallow') {
      isNaming = false;
      const rule = { isAllowed: field === 'allow', pattern: patternOf(value) };
      if (value !== '') current?.rules.push(rule);
    }
  }
  return { ...rulesFor(groups, token), sitemaps };
}

function* linesOf(text: string): Generator<[Field, string]> {
  const bounded = text.slice(0, limits.fetch.robotsBytesMax).replace(/^\uFEFF/, '');
  for (const line of bounded.split(/\r\n|\r|\n/)) {
    const [content = ''] = line.split('#');
    const [name, value] = fieldOf(content);
    const field = fields.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1];
    if (field !== undefined) yield [field, value];
  }
}

/** No expression for the whole line: a line of spaces would make it backtrack. */
function fieldOf(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(':');
  if (colon >= 0) return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  // `Disallow /private`: two words, the first of which can only be the field name.
  const [name = '', value = '', ...others] = line.trim().split(/[ \t]+/, 3);
  return others.length === 0 ? [name, value] : ['', ''];
}

/** A version or a comment may follow the name; a star means everyone. */
function agentOf(value: string): string {
  if (/^\*(?:\s|$)/.test(value)) return '*';
  return (/^[a-z_-]+/i.exec(value)?.[0] ?? '').toLowerCase();
}

function delayOf(value: string): number | undefined {
  const seconds = Number(value);
  if (!(seconds >= 0)) return undefined;
  return Math.min(Math.ceil(seconds * 1000), limits.fetch.crawlDelayMsMax);
}

/** All groups that name the robot are merged; if none does, those for everyone. */
function rulesFor(groups: readonly Group[], token: string): Omit<Robots, 'sitemaps'> {
  const named = groups.filter(({ agents }) => agents.has(token.toLowerCase()));
  const mine = named.length > 0 ? named : groups.filter(({ agents }) => agents.has('*'));
  const rules = mine.flatMap((group) => group.rules);
  return {
    rules,
    ruleCharacters: rules.reduce((sum, { pattern }) => sum + pattern.length, 0),
    crawlDelayMs: mine.find(({ crawlDelayMs }) => crawlDelayMs !== undefined)?.crawlDelayMs,
  };
}

function patternOf(value: string): string {
  // Non-ASCII is compared as percent-encoded UTF-8.
  const encoded = value.replace(/[^\x21-\x7e]+/g, (part) =>
    encodeURIComponent(part.toWellFormed()),
  );
  return normalEncoding(encoded).replace(/\*{2,}/g, '*');
}

export async function decide(robots: Robots, url: URL): Promise<RobotsDecision> {
  const path = normalEncoding(`${url.pathname}${url.search}`);
  // robots.txt itself is always allowed.
  if (path === '/robots.txt') return { isAllowed: true, rule: undefined };
  let best: Rule | undefined;
  const slice = new TimeSlice();
  for (const rule of robots.rules) {
    if (slice.isOver) await slice.next();
    if (isStronger(rule, best) && matches(rule.pattern, path)) best = rule;
  }
  if (!best) return { isAllowed: true, rule: undefined };
  const { isAllowed, pattern } = best;
  return { isAllowed, rule: `${isAllowed ? 'Allow' : 'Disallow'}: ${pattern}` };
}

function isStronger(rule: Rule, best: Rule | undefined): boolean {
  if (!best) return true;
  const difference = rule.pattern.length - best.pattern.length;
  return difference > 0 || (difference === 0 && rule.isAllowed);
}

/**
 * Whether the pattern matches the start of the path. Each part between stars is matched at its
 * first position after the previous one: matching from the left, a later position is never better.
 * So the time is at most the product of the two lengths, for any number of stars.
 */
export function matches(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$');
  const [first = '', ...parts] = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = isAnchored ? parts.pop() : undefined;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  if (!isAnchored) return true;
  if (last === undefined) return at === path.length;
  return path.length - last.length >= at && path.endsWith(last);
}
