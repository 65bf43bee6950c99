/** A source as a form describes it: the fields of each kind, and the request they make. */
import type { BodyOf } from '../../../src/contract/contract.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';

export type SourceKind = 'urls' | 'site' | 'feed' | 'folder' | 'git' | 'bucket';
type Option = 'include' | 'exclude' | 'branch' | 'depth' | 'limit' | 'endpoint';

export interface SourceDraft {
  readonly kind: SourceKind;
  readonly location: string;
  readonly corpus: string;
  readonly name: string;
  readonly schedule: string;
  readonly options: Readonly<Partial<Record<Option, string>>>;
}

interface KindForm {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly about: string;
  readonly options: readonly Option[];
}

const local = 'It is read with the rights of the service, so a service with API keys refuses it.';

export const kindForms: Readonly<Record<SourceKind, KindForm>> = {
  urls: {
    name: 'Pages',
    label: 'Addresses, one per line',
    hint: 'https://example.org/handbook',
    about: 'A page that no longer exists is removed. An unchanged page costs one small request.',
    options: [],
  },
  site: {
    name: 'Site',
    label: 'Start address, or the address of a sitemap',
    hint: 'https://docs.example.org/',
    about: 'Follows links and sitemaps on the same site, and obeys its robots.txt.',
    options: ['depth', 'limit', 'include', 'exclude'],
  },
  feed: {
    name: 'Feed',
    label: 'Address of the feed',
    hint: 'https://example.org/feed.xml',
    about: 'RSS, Atom or JSON Feed. Entries that leave the feed stay in the corpus.',
    options: [],
  },
  folder: {
    name: 'Folder',
    label: 'Path on the machine of the service',
    hint: '/srv/handbook',
    about: `Hidden files and node_modules are skipped. ${local}`,
    options: ['include', 'exclude'],
  },
  git: {
    name: 'Repository',
    label: 'Address of the repository, or its path',
    hint: 'git@git.example.org:team/handbook.git',
    about: `The newest commit of a branch. Nothing in it is executed. ${local}`,
    options: ['branch', 'include', 'exclude'],
  },
  bucket: {
    name: 'Bucket',
    label: 'Bucket and prefix',
    hint: 's3://company-documents/handbook',
    about: `The key is that of PAWL_BUCKET_KEY_ID and PAWL_BUCKET_SECRET. ${local}`,
    options: ['endpoint', 'include', 'exclude'],
  },
};

export const optionForms: Readonly<Record<Option, { name: string; hint: string }>> = {
  include: { name: 'Only these paths', hint: '/docs/*' },
  exclude: { name: 'Without these paths', hint: '/archive/*' },
  branch: { name: 'Branch', hint: 'the main branch' },
  depth: { name: 'Link depth', hint: String(limits.job.crawlDepthDefault) },
  limit: { name: 'Maximum pages', hint: String(limits.job.crawlPagesDefault) },
  endpoint: { name: 'Server', hint: 'Amazon S3' },
};

export function sourceBody(draft: SourceDraft): BodyOf<'POST /sources'> {
  const { kind, location, corpus, name, schedule, options } = draft;
  const given = kindForms[kind].options.flatMap((option): [string, unknown][] => {
    const text = options[option]?.trim() ?? '';
    if (text === '') return [];
    if (option === 'include' || option === 'exclude') return [[option, text.split(/[\s,]+/)]];
    return [[option, option === 'depth' || option === 'limit' ? Number(text) : text]];
  });
  return {
    corpus_name: corpus,
    kind,
    location: location
      .trim()
      .split(/\s*\n\s*/)
      .join(kind === 'urls' ? ' ' : ''),
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(schedule.trim() !== '' && { schedule: schedule.trim() }),
    ...Object.fromEntries(given),
  };
}

/** Why it cannot be sent yet. The service checks everything else. */
export function draftProblem({ kind, location, name, options }: SourceDraft): string | undefined {
  if (location.trim() === '') return 'Enter the location.';
  if (name.trim() !== '' && !limits.sync.namePattern.test(name.trim())) {
    return 'The name has lowercase letters, digits, dots, dashes and underscores.';
  }
  for (const option of ['depth', 'limit'] as const) {
    const text = options[option]?.trim() ?? '';
    if (kindForms[kind].options.includes(option) && !/^\d*$/.test(text)) {
      return `${optionForms[option].name} is a number.`;
    }
  }
  return undefined;
}
