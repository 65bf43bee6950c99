/**
 * What speaks for a block being part of the main text, and what against it. Each row is one
 * observation between 0 and 1; `weights.ts` says how much each counts.
 */
import type { Block } from './blocks.ts';
import { mark } from './marks.ts';
import type { Setting } from './setting.ts';

export type Observation = (block: Block, setting: Setting, index: number) => number;

const marked = (bit: number): Observation => (_block, setting, index) =>
  ((setting.marks[index] ?? 0) & bit) === 0 ? 0 : 1;

const when = (condition: boolean): number => (condition ? 1 : 0);
const linkShare = (block: Block): number => (block.words === 0 ? 0 : Math.min(1, block.linkedWords / block.words));

export function isProse(block: Block): boolean {
  return block.words >= 15 && linkShare(block) < 0.4 && block.kind !== 'heading';
}

const endsSentence = /[.!?…。！？:;][)"'”’»“\]]*$/u;
const innerSentence = /[.!?…。！？]["”’»)]?\s+["“„«(]?\p{Lu}/u;
const dateLike = /\b(?:19|20)\d\d\b|\b\d{1,2}[:.h]\d\d\b|\b\d{1,2}[./]\d{1,2}[./]/;
const openers =
  /^(?:read (?:more|also|next|the)|see also|more (?:on|from|about)|related|share|follow|subscribe|sign up|click|photo|image|picture|credit|source|copyright|©|tags?\b|filed under|advertis|published|posted|updated|last (?:modified|updated)|by\b|written by|loading|comments?\b|leave a|print|e-?mail|download|watch|listen|join|get the|lesen sie|lies auch|mehr (?:zum|von|zu)|auch interessant|weitere|teilen|folgen|foto|bild|quelle|anzeige|von\b|veröffentlicht|aktualisiert|stand|schlagw|kategorie|themen|kommentar|newsletter|abonn|drucken|lire aussi|à lire|voir aussi|partager|crédit|publié|mis à jour|par\b|leer (?:más|también)|lea también|ver también|te puede|compart|fuente|publicado|actualizado|por\b|leggi anche|condividi|fonte|pubblicato|lees ook|lees meer|deel|bron|door\b|leia (?:mais|também)|veja também|compartilh|czytaj|zobacz|źródło|fot\.|udostępnij|tagi)/iu;

const near = (setting: Setting, index: number, step: 1 | -1): number => setting.kept[index + step] ?? 0;
const neighbour = (setting: Setting, index: number, step: 1 | -1): Block | undefined =>
  setting.blocks[index + step];

export const observations: Readonly<Record<string, Observation>> = {
  tiny: (block) => when(block.words < 4),
  short: (block) => when(block.words >= 4 && block.words < 10),
  brief: (block) => when(block.words >= 10 && block.words < 20),
  long: (block) => when(block.words >= 40),
  linked: (block) => linkShare(block),
  allLinked: (block) => when(linkShare(block) > 0.8),
  sentence: (block) => when(endsSentence.test(block.text)),
  sentences: (block) => when(innerSentence.test(block.text)),
  comma: (block) => when(/[,،，、]/.test(block.text)),
  heading: (block) => when(block.kind === 'heading'),
  subheading: (block) => when(block.kind === 'heading' && block.level > 2),
  item: (block) => when(block.kind === 'item'),
  row: (block) => when(block.kind === 'row'),
  code: (block) => when(block.kind === 'code'),
  quote: (block) => when(block.quote > 0),
  hidden: marked(mark.hidden),
  navigation: marked(mark.navigation),
  header: marked(mark.header),
  footer: marked(mark.footer),
  aside: marked(mark.aside),
  form: marked(mark.form),
  figure: marked(mark.figure),
  caption: marked(mark.caption),
  comment: marked(mark.comment),
  share: marked(mark.share),
  related: marked(mark.related),
  promotion: marked(mark.promotion),
  byline: marked(mark.byline),
  consent: marked(mark.consent),
  inArticle: marked(mark.article),
  inMain: marked(mark.main),
  inBody: marked(mark.body),
  inSpan: (_block, setting, index) => when(index >= setting.first && index <= setting.last),
  proseInSpan: (block, setting, index) =>
    when(index >= setting.first && index <= setting.last && isProse(block)),
  beforeSpan: (_block, setting, index) => when(index < setting.first && index >= setting.first - 3),
  afterSpan: (_block, setting, index) => when(index > setting.last && index <= setting.last + 3),
  previousKept: (_block, setting, index) => near(setting, index, -1),
  nextKept: (_block, setting, index) => near(setting, index, 1),
  previousProse: (_block, setting, index) => {
    const other = neighbour(setting, index, -1);
    return when(other !== undefined && isProse(other));
  },
  nextProse: (_block, setting, index) => {
    const other = neighbour(setting, index, 1);
    return when(other !== undefined && isProse(other));
  },
  headingBeforeProse: (block, setting, index) => {
    const other = neighbour(setting, index, 1);
    return when(block.kind === 'heading' && other !== undefined && isProse(other));
  },
  headingBeforeLinks: (block, setting, index) => {
    const other = neighbour(setting, index, 1);
    return when(block.kind === 'heading' && (other === undefined || linkShare(other) > 0.5));
  },
  around: (_block, setting, index) => setting.around[index] ?? 0,
  proseAround: (_block, setting, index) => setting.proseAround[index] ?? 0,
  title: (block, setting) => when(block.words < 30 && setting.titles.has(plain(block.text))),
  repeated: (block, setting) => when((setting.counts.get(block.text) ?? 0) > 1),
  opener: (block) => when(block.words < 25 && openers.test(block.text)),
  dated: (block) => when(block.words < 12 && dateLike.test(block.text)),
  shouting: (block) => when(block.words < 12 && !/\p{Ll}/u.test(block.text)),
  separators: (block) => when(block.words < 25 && /[|•»›©→]/.test(block.text)),
  cut: (block) => when(/(?:…|\.\.\.|»|›|→|>)$/.test(block.text)),
  colon: (block) => when(block.text.endsWith(':')),
  inArticleBodyText: (block, setting) => when(setting.declared !== '' && setting.declared.includes(plain(block.text))),
  notInArticleBodyText: (block, setting) => when(setting.declared !== '' && !setting.declared.includes(plain(block.text))),
};

/** Letters and digits only, so that quotes, dashes and spaces do not tell two texts apart. */
export function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
