/** A web page: its main content and its metadata. */
import { isPartlyRead, keptPercent } from '../../../../kernel/text/kept-share.ts';
import { extractHtml, type HtmlContent, type NoContentReason } from '../../html/extract-html.ts';
import { decodeHtml } from '../../html/page/charset.ts';
import { firstDropped, roundedShare } from '../../loss.ts';
import type { Parser } from '../../parsed.ts';
import { withoutText } from '../refuse.ts';

const whyNoContent: Readonly<Record<NoContentReason, string>> = {
  empty_page: 'is a page without text',
  script_only_page:
    'shows its text only after running scripts: a browser may do that (PAWL_BROWSER)',
  login_wall:
    'asks for a login instead of showing its text: save it where you are logged in, and submit ' +
    'the file',
};

export const parseHtml: Parser = async ({ bytes, source, charset, withDropped }) => {
  const found = extractHtml(decodeHtml(bytes, charset), { url: source });
  if (!found.found) throw withoutText(`${source} ${whyNoContent[found.reason]}`);
  const { author, published, canonical, meta } = found;
  return {
    title: found.title ?? null,
    language: found.language ?? null,
    markdown: found.markdown,
    meta: {
      ...(author !== undefined && { author }),
      ...(published !== undefined && { date: published }),
      ...(canonical !== undefined && { canonical }),
      ...(meta.site !== undefined && { site: meta.site }),
      ...(meta.description !== undefined && { description: meta.description }),
      ...(meta.isDegraded && { degraded: true }),
      ...warned(found),
      kept_share: roundedShare(found.keptShare),
    },
    ...(withDropped && { dropped: firstDropped(found.dropped) }),
  };
};

function warned({ keptShare, meta }: HtmlContent): { warnings?: readonly string[] } {
  const warnings = [
    ...(meta.isDegraded
      ? ['The page is too large or nested too deep: only its plain text was read.']
      : []),
    ...(isPartlyRead(keptShare)
      ? [`Only ${keptPercent(keptShare)} % of the words outside navigation were kept as content.`]
      : []),
  ];
  return warnings.length > 0 ? { warnings } : {};
}
