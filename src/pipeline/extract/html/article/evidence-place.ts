/** Evidence from the position of a block: its ancestors and its neighbours. */
import type { Block } from '../block/blocks.ts';
import type { BlockContext } from './block-context.ts';
import { mark } from './element-marks.ts';
import type { Evidence } from './evidence.ts';
import { isProse } from './prose.ts';

type Observe = Evidence['observe'];

const when = (condition: boolean): number => (condition ? 1 : 0);

const marked =
  (bit: number): Observe =>
  (_block, context, index) =>
    ((context.marks[index] ?? 0) & bit) === 0 ? 0 : 1;

const isInSpan = (context: BlockContext, index: number) =>
  index >= context.first && index <= context.last;

const isNextProse = (context: BlockContext, index: number) => {
  const next: Block | undefined = context.blocks[index + 1];
  return next !== undefined && isProse(next);
};

const margin = (name: keyof typeof mark, left: number, kept: number, reason: string): Evidence => ({
  name,
  left,
  kept,
  reason,
  observe: marked(mark[name]),
});

const margins: readonly Evidence[] = [
  margin('navigation', -1.1, 0, 'menus and breadcrumbs lead elsewhere'),
  margin('footer', -1.2, 0, 'the foot of a page is about the site'),
  margin('form', -0.8, 0, 'forms ask, they do not tell'),
  margin('figure', -0.4, -1, 'words in a figure describe the figure'),
  margin('caption', -0.5, -2, 'captions and credits interrupt the text'),
  margin('comment', -2.1, -0.1, 'what readers write is not the text'),
  margin('related', -0.6, -0.8, 'teasers of other pages'),
  margin('promotion', -1.2, -0.1, 'subscriptions, advertisements and donations'),
  margin('byline', -0.6, -1.3, 'who wrote it and when is metadata'),
  margin('body', -0.4, 0, 'Readability drops a part of a content element for a reason'),
  // Set by hand: hidden words and consent banners must not be indexed even if they look like text.
  margin('hidden', -3, -3, 'nobody who reads the page sees it'),
  margin('newsletter', -2, -2, 'a box that asks for an address is no part of what it stands in'),
  margin('consent', -1, -1, 'banners speak of the visit, not of the subject'),
];

const surroundings: readonly Evidence[] = [
  {
    name: 'inSpan',
    left: 0.6,
    kept: 0.5,
    reason: 'between the first and the last kept prose',
    observe: (_block, context, index) => when(isInSpan(context, index)),
  },
  {
    name: 'proseInSpan',
    left: -0.1,
    kept: 1,
    reason: 'prose among prose',
    observe: (block, context, index) => when(isInSpan(context, index) && isProse(block)),
  },
  {
    name: 'beforeSpan',
    left: 0.8,
    kept: 0,
    reason: 'leads and subtitles stand right before the first paragraph',
    observe: (_block, context, index) => when(index < context.first && index >= context.first - 3),
  },
  {
    name: 'afterSpan',
    left: -0.6,
    kept: -0.4,
    reason: 'right after the last paragraph come tags and teasers',
    observe: (_block, context, index) => when(index > context.last && index <= context.last + 3),
  },
  {
    name: 'nextKept',
    left: 0.1,
    kept: 0.7,
    reason: 'it leads on to something that was kept',
    observe: (_block, context, index) => context.kept[index + 1] ?? 0,
  },
  {
    name: 'nextProse',
    left: 0.1,
    kept: 0.4,
    reason: 'it leads on to prose',
    observe: (_block, context, index) => when(isNextProse(context, index)),
  },
  {
    name: 'headingOfProse',
    left: 0.7,
    kept: 0.9,
    reason: 'a heading belongs to the prose below it',
    observe: (block, context, index) =>
      when(block.kind === 'heading' && isNextProse(context, index)),
  },
  {
    name: 'keptAround',
    left: -0.2,
    kept: 1.1,
    reason: 'its neighbours were kept too',
    observe: (_block, context, index) => context.around[index]?.kept ?? 0,
  },
  {
    name: 'proseAround',
    left: -0.5,
    kept: -0.5,
    reason: 'what is not prose among prose is an insert',
    observe: (_block, context, index) => context.around[index]?.prose ?? 0,
  },
  {
    name: 'linksAround',
    left: -1.6,
    kept: -0.4,
    reason: 'its neighbours are links',
    observe: (_block, context, index) => context.around[index]?.linked ?? 0,
  },
  {
    name: 'mainSection',
    left: 0.1,
    kept: 1,
    reason: 'it stands in the very element that most kept prose stands in',
    observe: (_block, context, index) => when((context.sectionShare[index] ?? 0) > 0.5),
  },
  {
    name: 'twoOut',
    left: -0.8,
    kept: -0.2,
    reason: 'boxes inside the article stand two elements away from its prose',
    observe: (_block, context, index) => when(context.distance[index] === 2),
  },
  {
    name: 'proseOutside',
    left: -0.4,
    kept: -0.6,
    reason: 'prose far from the main prose is that of another article',
    observe: (block, context, index) => when(isProse(block) && (context.distance[index] ?? 0) > 2),
  },
  {
    name: 'proseInArticle',
    left: 1.2,
    kept: -0.1,
    reason: 'prose in the article element belongs to it even if Readability missed it',
    observe: (block, context, index) =>
      when(isProse(block) && ((context.marks[index] ?? 0) & mark.article) !== 0),
  },
  {
    name: 'littleKept',
    left: 1,
    kept: 1,
    reason: 'Readability kept under a quarter of the prose: its word counts for less',
    observe: (_block, context) => when(context.keptProse < 0.25),
  },
];

export const placeEvidence: readonly Evidence[] = [...margins, ...surroundings];
