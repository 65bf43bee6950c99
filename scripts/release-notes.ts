/** The changelog and the version of a release, without files and git. */

const heading = /^## (.+)$/gm;

/** The text under the heading of a version, without the heading. */
export function notesOf(changelog: string, version: string): string {
  const headings = [...changelog.matchAll(heading)];
  const at = headings.findIndex(([, title = '']) => title.split(' ')[0] === version);
  const found = headings[at];
  if (!found) throw new Error(`CHANGELOG.md has no section for ${version}`);
  const notes = changelog.slice(found.index + found[0].length, headings[at + 1]?.index).trim();
  if (notes === '') throw new Error(`CHANGELOG.md lists no change under ${version}`);
  return `${notes}\n`;
}

/** The changelog with what was unreleased under `version`, and an empty section above it. */
export function releaseChangelog(changelog: string, version: string, date: string): string {
  notesOf(changelog, 'Unreleased');
  return changelog.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} (${date})`);
}

/** The wanted version, if it may follow the present one, which may be used until it is tagged. */
export function requireNext(
  present: string,
  wanted: string | undefined,
  tags: readonly string[],
): string {
  if (wanted === undefined || !/^\d+\.\d+\.\d+$/.test(wanted)) {
    throw new Error('name the version: npm run release -- MAJOR.MINOR.PATCH');
  }
  if (tags.includes(`v${wanted}`)) throw new Error(`v${wanted} is already tagged`);
  if (compare(wanted, present) < 0) throw new Error(`${wanted} is older than ${present}`);
  return wanted;
}

function compare(one: string, other: string): number {
  const parts = other.split('.').map(Number);
  const differences = one.split('.').map((part, at) => Number(part) - (parts[at] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}
