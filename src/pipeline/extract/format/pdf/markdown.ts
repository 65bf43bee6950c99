/** The Markdown of a page as the library gives it, in the form that all other formats have. */

export function tidyPage(markdown: string): string {
  return markdown
    .replace(/^```text\s*```$/gm, '')
    .replace(/^\|(?:-{3,}\|)+$/gm, (rule) => `|${' --- |'.repeat(rule.split('|').length - 2)}`)
    .split('\n')
    .map((line) => (/^[•●▪■◦○‣∙]/.test(line) ? toItems(line) : line))
    .join('\n')
    .trim();
}

/** Bullets that were taken for words: each begins an item, and hollow ones stand deeper. */
function toItems(line: string): string {
  const items = line.matchAll(/([•●▪■◦○‣∙])\s*([^•●▪■◦○‣∙]*)/g);
  return [...items]
    .map(([, bullet = '', text = '']) => `${/[◦○]/.test(bullet) ? '   ' : ''}- ${text.trim()}`)
    .filter((item) => !/-\s$/.test(item))
    .join('\n');
}
