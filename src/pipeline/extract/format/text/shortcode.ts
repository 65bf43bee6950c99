/**
 * Template tags of site generators: `{{< name … >}}` and `{{% name … %}}` of Hugo, `{% name … %}`
 * of Liquid. The tags are removed; visible words stay.
 */
const tag = /\{\{[<%]([^{}]{0,2000})[%>]\}\}|\{%-?([^{}%]{0,2000})-?%\}/g;

export function plainShortcodes(text: string): string {
  if (!text.includes('{')) return text;
  return text.replace(tag, (_whole, hugo?: string, liquid?: string) =>
    wordsOf(hugo ?? liquid ?? ''),
  );
}

const readable = /^(?:text|title|caption|alt|label|heading|name|summary|description)$/i;
const argument =
  /(?:([A-Za-z][\w-]{0,60})\s*=\s*)?(?:"([^"]{0,1000})"|“([^”]{0,1000})”|`([^`]{0,1000})`)/g;

/** Named arguments that are displayed, and quoted ones that are words, not a path or an id. */
function wordsOf(inside: string): string {
  return [...inside.matchAll(argument)]
    .filter(([, name, ...values]) =>
      name === undefined ? isWords(values.find(Boolean)) : readable.test(name),
    )
    .map(([, , ...values]) => values.find(Boolean) ?? '')
    .filter((value, index, all) => all.indexOf(value) === index)
    .join(' ');
}

function isWords(value: string | undefined): boolean {
  return value !== undefined && /\p{L}/u.test(value) && !/[/\\=#:]|\.\w{1,5}$/.test(value);
}

export interface Highlight {
  readonly language: string;
  readonly closes: RegExp;
}

const hugoHighlight =
  /^\s*\{\{[<%]\s*(highlight|codeblock)\s+(?:lang\w*\s*=\s*)?"?([\w+#-]{0,30})[^{}]*[%>]\}\}\s*$/;
const liquidHighlight = /^\s*\{%-?\s*highlight\s+([\w+#-]{1,30})[^{}]*%\}\s*$/;

/** These expressions backtrack, so they run on short lines only. */
const highlightCharactersMax = 500;

/** A tag that starts code, alone on its line. */
export function readHighlight(line: string): Highlight | undefined {
  if (line.length > highlightCharactersMax) return undefined;
  const hugo = hugoHighlight.exec(line);
  if (hugo) {
    const closes = new RegExp(`\\{\\{[<%]\\s*/\\s*${hugo[1]}\\s*[%>]\\}\\}`);
    return { language: hugo[2] ?? '', closes };
  }
  const language = liquidHighlight.exec(line)?.[1];
  return language === undefined ? undefined : { language, closes: /\{%-?\s*endhighlight\s*-?%\}/ };
}
