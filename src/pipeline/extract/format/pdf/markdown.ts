/** Converts the library's Markdown of a page to the form of all other formats. */

export function tidyPage(markdown: string): string {
  return markdown
    .replace(/^```text\s*```$/gm, '')
    .replace(/^\|(?:-{3,}\|)+$/gm, (rule) => `|${' --- |'.repeat(rule.split('|').length - 2)}`)
    .split('\n')
    .map((line) => (/^[•●▪■◦○‣∙]/.test(line) ? toItems(line) : line))
    .join('\n')
    .trim();
}

/** Bullets that were read as words: each starts an item, and hollow ones are nested. */
function toItems(line: string): string {
  const items = line.matchAll(/([•●▪■◦○‣∙])\s*([^•●▪■◦○‣∙]*)/g);
  return [...items]
    .map(([, bullet = '', text = '']) => `${/[◦○]/.test(bullet) ? '   ' : ''}- ${text.trim()}`)
    .filter((item) => !/-\s$/.test(item))
    .join('\n');
}
