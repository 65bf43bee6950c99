/**
 * What an element says about itself, by its tag, role, class and id, as a set of marks which all
 * that stands inside it inherits.
 */
import type { DomElement } from './dom.ts';

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

const byWord: readonly (readonly [RegExp, number])[] = [
  [
    /comment|disqus|(?:^|[-_ ])repl(?:y|ies)|respond|kommentar|comentario|leserbrief/i,
    mark.comment,
  ],
  [
    /(?:^|[-_ ])shar(?:e|ing)|social|sharedaddy|addthis|addtoany|follow-?us|teilen|jp-relatedposts/i,
    mark.share,
  ],
  [
    /relate[ds]|recommend|more-?(?:from|stories|news|articles|on|posts)|(?:^|[-_ ])teaser|trending|most-?(?:read|popular)|popular|outbrain|taboola|read-?(?:next|also|more)|also-?(?:like|read)|similar|weitere|mehr-|recirc|you-?may|further|up-?next/i,
    mark.related,
  ],
  [
    /newsletter|subscri|sign-?up|paywall|promo|(?:^|[-_ ])ad(?:s|vert\w*|-?slot|-?unit|-?box|-?container)?(?:$|[-_ ])|sponsor|anzeige|werbung|donat|(?:^|[-_ ])cta(?:$|[-_ ])/i,
    mark.promotion,
  ],
  [/caption|credit|wp-caption|bildunterschrift|copyright/i, mark.caption],
  [
    /byline|(?:^|[-_ ])authors?(?:$|[-_ ])|author-?(?:bio|box|info|name|card|meta|block)|dateline|(?:^|[-_ ])(?:post|entry|article|blog)[-_]?(?:meta|date|info|time|tags|footer|author|categor\w*)|timestamp|publish-?(?:ed|date)|pubdate|(?:^|[-_ ])meta(?:$|[-_ ])|tag-?(?:s|list|links|cloud)(?:$|[-_ ])|(?:^|[-_ ])tags?(?:$|[-_ ])/i,
    mark.byline,
  ],
  [
    /cookie|consent|gdpr|(?:^|[-_ ])(?:modal|popup|pop-up|overlay|lightbox)(?:$|[-_ ])/i,
    mark.consent,
  ],
  [
    /(?:^|[-_ ])(?:nav|menu|navbar|navigation|breadcrumbs?|pagination|pager|toc|skip-?link|navi)(?:$|[-_ ])|breadcrumb|(?:^|[-_ ])(?:sub|top|main|side|site|page|global|foot|head)?(?:nav|menu)(?:igation)?(?:$|[-_ ])/i,
    mark.navigation,
  ],
  [
    /(?:^|[-_ ])(?:sidebar|side-?bar|aside|widgets?|rail|secondary)(?:$|[-_ ])|sidebar/i,
    mark.aside,
  ],
  [
    /(?:^|[-_ ])(?:post|article|entry|story|page|main|blog|news|text|body|hentry)[-_]*(?:content|body|text|copy|entry|main|article|inner)|articlebody|(?:^|[-_ ])(?:content|hentry|entry|post|article|story)(?:$|[-_ ])/i,
    mark.body,
  ],
  [/(?:^|[-_ ])(?:site|page|global|main)?-?footer(?:$|[-_ ])|colophon|impressum/i, mark.footer],
];

const hiddenStyle = /display\s*:\s*none|visibility\s*:\s*hidden/i;

export function marksOf(element: DomElement, seen: Map<string, number>): number {
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

function marksOfWords(words: string, seen: Map<string, number>): number {
  const known = seen.get(words);
  if (known !== undefined) return known;
  let marks = 0;
  const start = words.slice(0, 300);
  for (const [pattern, bit] of byWord) if (pattern.test(start)) marks |= bit;
  seen.set(words, marks);
  return marks;
}

function isHidden(element: DomElement): boolean {
  if (element.getAttribute('hidden') !== null) return true;
  if (element.getAttribute('aria-hidden') === 'true') return true;
  const style = element.getAttribute('style');
  return style !== null && hiddenStyle.test(style);
}
