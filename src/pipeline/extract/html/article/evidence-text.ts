/** Evidence from the block itself: its length, its ending, its content. */
import type { Block } from '../block/blocks.ts';
import type { Evidence } from './evidence.ts';
import { linkShare, plain } from './prose.ts';

const when = (condition: boolean): number => (condition ? 1 : 0);

const sentenceEnd = /[.!?…。！？:;][)"'”’»“\]]*$/u;

/** How captions, bylines, teasers and calls to action begin, in the most frequent languages. */
const openers = new RegExp(
  `^(?:${[
    'read (?:more|also|next|the)|see also|more (?:on|from|about)|related|share|follow|subscribe',
    'sign up|click|photo|image|picture|credit|source|copyright|©|tags?\\b|filed under|advertis',
    'published|posted|updated|last (?:modified|updated)|by\\b|written by|loading|comments?\\b',
    'leave a|print|e-?mail|download|watch|listen|join|get the|lesen sie|lies auch',
    'mehr (?:zum|von|zu)|auch interessant|weitere|teilen|folgen|foto|bild|quelle|anzeige|von\\b',
    'veröffentlicht|aktualisiert|stand|schlagw|kategorie|themen|kommentar|newsletter|abonn',
    'drucken|lire aussi|à lire|voir aussi|partager|crédit|publié|mis à jour|par\\b',
    'leer (?:más|también)|lea también|ver también|te puede|compart|fuente|publicado|actualizado',
    'por\\b|leggi anche|condividi|fonte|pubblicato|lees ook|lees meer|deel|bron|door\\b',
    'leia (?:mais|também)|veja também|compartilh|czytaj|zobacz|źródło|fot\\.|udostępnij|tagi',
  ].join('|')})`,
  'iu',
);

const isShortFragment = (block: Block) => block.words < 12 && !sentenceEnd.test(block.text);

export const textEvidence: readonly Evidence[] = [
  {
    name: 'tiny',
    left: -0.4,
    kept: -0.5,
    reason: 'fewer than four words are a label',
    observe: (block) => when(block.words < 4),
  },
  {
    name: 'size',
    left: 1.2,
    kept: 0.8,
    reason: 'the more words, the less likely a label',
    observe: (block) => Math.min(1, Math.log2(1 + block.words) / 8),
  },
  {
    name: 'long',
    left: 0.5,
    kept: 0.6,
    reason: 'margins seldom hold forty words in one paragraph',
    observe: (block) => when(block.words >= 40),
  },
  {
    name: 'linked',
    left: -0.7,
    kept: -1.1,
    reason: 'links lead away from the text',
    observe: (block) => linkShare(block),
  },
  {
    name: 'allLinked',
    left: -0.3,
    kept: -0.7,
    reason: 'a block that is one link is a teaser',
    observe: (block) => when(linkShare(block) > 0.8),
  },
  {
    name: 'sentence',
    left: 0.4,
    kept: 0.8,
    reason: 'prose ends its sentences',
    observe: (block) => when(sentenceEnd.test(block.text)),
  },
  {
    name: 'comma',
    left: 0.5,
    kept: 0.3,
    reason: 'labels have no clauses',
    observe: (block) => when(/[,،，、]/.test(block.text)),
  },
  {
    name: 'colon',
    left: 0.1,
    kept: -0.7,
    reason: 'what announces something is left alone when that is dropped',
    observe: (block) => when(block.text.endsWith(':')),
  },
  {
    name: 'subheading',
    left: -0.7,
    kept: 0.1,
    reason: 'low headings outside the text head teasers and widgets',
    observe: (block) => when(block.kind === 'heading' && block.level > 2),
  },
  {
    name: 'item',
    left: -0.6,
    kept: 0.5,
    reason: 'a list is a menu, unless it survived among prose',
    observe: (block) => when(block.kind === 'item'),
  },
  {
    name: 'fragmentItem',
    left: 0.8,
    kept: 0.8,
    reason: 'items are short by nature: being a fragment says less of them',
    observe: (block) => when(block.kind === 'item' && isShortFragment(block)),
  },
  {
    name: 'row',
    left: 0.2,
    kept: 1.3,
    reason: 'a table of figures that survived is content',
    observe: (block) => when(block.kind === 'row'),
  },
  {
    name: 'code',
    left: 0,
    kept: 1.5,
    reason: 'margins hold no code',
    observe: (block) => when(block.kind === 'code'),
  },
  {
    name: 'opener',
    left: -1,
    kept: -2.4,
    reason: 'it begins as captions, bylines and calls to action do',
    observe: (block) => when(block.words < 25 && openers.test(block.text)),
  },
  {
    name: 'title',
    left: 0.8,
    kept: -0.2,
    reason: 'the title stands where the text starts',
    observe: (block, context) => when(block.words < 30 && context.titles.has(plain(block.text))),
  },
  {
    name: 'repeated',
    left: 0.6,
    kept: 0.5,
    reason: 'pages repeat their lead and their quotes, in print and mobile copies',
    observe: (block, context) => when((context.counts.get(block.text) ?? 0) > 1),
  },
  {
    name: 'undeclared',
    left: -0.6,
    kept: -0.3,
    reason: 'the page declares the text of its article, and this is not in it',
    observe: (block, context) =>
      when(context.declared !== '' && !context.declared.includes(plain(block.text))),
  },
];
