/**
 * The roles that an element's tag, ARIA role, class and id indicate, as a bit set that its content
 * inherits.
 */
import type { TreeElement } from '../tree/element.ts';

export const mark = {
  hidden: 1,
  navigation: 2,
  header: 4,
  footer: 8,
  aside: 16,
  form: 32,
  figure: 64,
  caption: 128,
  comment: 256,
  share: 512,
  related: 1024,
  promotion: 2048,
  byline: 4096,
  consent: 8192,
  article: 16384,
  main: 32768,
  body: 65536,
  newsletter: 131072,
  content: 262144,
} as const;

const byTag: Readonly<Record<string, number>> = {
  article: mark.article,
  main: mark.main,
  nav: mark.navigation,
  header: mark.header,
  footer: mark.footer,
  aside: mark.aside,
  form: mark.form,
  figure: mark.figure,
  figcaption: mark.caption,
  dialog: mark.hidden,
};

const byRole: Readonly<Record<string, number>> = {
  article: mark.article,
  main: mark.main,
  navigation: mark.navigation,
  menu: mark.navigation,
  menubar: mark.navigation,
  banner: mark.header,
  contentinfo: mark.footer,
  complementary: mark.aside,
  dialog: mark.consent,
  alertdialog: mark.consent,
  search: mark.form,
};

/** A word of a class or id is at its start, at its end, or after a dash or an underscore. */
const anyOf = (...patterns: readonly string[]): RegExp => {
  const sides = patterns.join('|').replaceAll('<', '(?:^|[-_ ])').replaceAll('>', '(?:$|[-_ ])');
  return new RegExp(sides, 'i');
};

const byWord: readonly (readonly [RegExp, number])[] = [
  [anyOf('comment|disqus|<repl(?:y|ies)|respond|kommentar|comentario|leserbrief'), mark.comment],
  [anyOf('<shar(?:e|ing)|social|sharedaddy|addthis|addtoany|follow-?us|teilen'), mark.share],
  [
    anyOf(
      'relate[ds]|recommend|more-?(?:from|stories|news|articles|on|posts)|<teaser|trending|popular',
      'most-?read|outbrain|taboola|read-?(?:next|also|more)|also-?(?:like|read)|similar|weitere',
      'mehr-|recirc|you-?may|further|up-?next',
    ),
    mark.related,
  ],
  [
    anyOf(
      'subscri|sign-?up|paywall|promo|sponsor|anzeige|werbung|donat|<cta>',
      '<ad(?:s|vert\\w*|-?slot|-?unit|-?box|-?container)?>',
    ),
    mark.promotion,
  ],
  [anyOf('newsletter|mailing-?list|mailchimp'), mark.newsletter],
  [anyOf('caption|credit|bildunterschrift|copyright'), mark.caption],
  [
    anyOf(
      'byline|<authors?>|author-?(?:bio|box|info|name|card|meta|block)|dateline|timestamp|pubdate',
      '<(?:post|entry|article|blog)[-_]?(?:meta|date|info|time|tags|footer|author|categor\\w*)',
      'publish-?(?:ed|date)|<meta>|tag-?(?:s|list|links|cloud)>|<tags?>',
    ),
    mark.byline,
  ],
  [anyOf('cookie|consent|gdpr|<(?:modal|popup|pop-up|overlay|lightbox)>'), mark.consent],
  [
    anyOf(
      '<nav(?:bar|header|footer|links?|panel|path|row|list)>',
      '<(?:pagination|pager|toc|skip-?link|navi)>|breadcrumb',
      '<(?:sub|top|main|side|left|right|site|page|global|foot|head)?(?:nav|menu)(?:igation)?>',
    ),
    mark.navigation,
  ],
  [anyOf('<(?:side-bar|aside|widgets?|rail|secondary)>|sidebar'), mark.aside],
  [
    anyOf(
      '<(?:post|article|entry|story|page|main|blog|news|text|body|hentry)[-_]*' +
        '(?:content|body|text|copy|entry|main|article|inner)',
      'articlebody|<(?:content|hentry|entry|post|article|story)>',
    ),
    mark.body,
  ],
  [anyOf('<(?:site|page|global|main)?-?footer>|colophon|impressum'), mark.footer],
  [
    anyOf(
      '(?:^|\\s)(?:(?:main|page|docs?|body|article)[-_]?)?' +
        '(?:contents?|body|main|document)(?:wrapper)?(?:\\s|$)',
    ),
    mark.content,
  ],
];

const hiddenStyle = /display\s*:\s*none|visibility\s*:\s*hidden/i;

export function marksOf(element: TreeElement, seen: Map<string, number>): number {
  let marks = byTag[element.localName] ?? 0;
  const words = `${element.getAttribute('class') ?? ''} ${element.getAttribute('id') ?? ''}`;
  if (words.length > 1) marks |= marksOfWords(words, seen);
  const role = element.getAttribute('role');
  if (role !== null) marks |= byRole[role] ?? 0;
  if (element.getAttribute('itemprop') === 'articleBody')
    marks |= mark.article | mark.main | mark.body;
  if (isHidden(element)) marks |= mark.hidden;
  return marks;
}

/** By tag, role and class only. */
export function marksOfNames(element: TreeElement): number {
  const names = marksOfWords(`${element.getAttribute('class') ?? ''} `, new Map());
  return (
    names | (byTag[element.localName] ?? 0) | (byRole[element.getAttribute('role') ?? ''] ?? 0)
  );
}

function marksOfWords(words: string, seen: Map<string, number>): number {
  const known = seen.get(words);
  if (known !== undefined) return known;
  let marks = 0;
  const start = words.slice(0, 300);
  for (const [pattern, bit] of byWord) if (pattern.test(start)) marks |= bit;
  seen.set(words, marks);
  return marks;
}

function isHidden(element: TreeElement): boolean {
  if (element.getAttribute('hidden') !== null) return true;
  if (element.getAttribute('aria-hidden') === 'true') return true;
  const style = element.getAttribute('style');
  return style !== null && hiddenStyle.test(style);
}
