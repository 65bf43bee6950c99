/** The form of a crawl: limits, and path filters. */
import type { BodyOf } from '../../src/contract/contract.ts';
import { limits } from '../../src/kernel/limits/limits.ts';

export interface CrawlPlan {
  readonly depth: string;
  readonly limit: string;
  readonly include: string;
  readonly exclude: string;
}

const { crawlDepthMax, crawlDepthDefault, crawlPagesMax, crawlPagesDefault } = limits.job;

export const noCrawl: CrawlPlan = {
  depth: String(crawlDepthDefault),
  limit: String(crawlPagesDefault),
  include: '',
  exclude: '',
};

export function crawlProblem({ depth, limit }: CrawlPlan): string | undefined {
  if (!isWithin(depth, 0, crawlDepthMax)) return `depth must be from 0 to ${crawlDepthMax}`;
  if (!isWithin(limit, 1, crawlPagesMax))
    return `the limit must be from 1 to ${crawlPagesMax} pages`;
  return undefined;
}

function isWithin(text: string, least: number, most: number): boolean {
  return /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most;
}

export function crawlBody(
  url: string,
  plan: CrawlPlan,
): NonNullable<BodyOf<'POST /jobs'>['crawl']> {
  const include = globsOf(plan.include);
  const exclude = globsOf(plan.exclude);
  return {
    url,
    depth: Number(plan.depth),
    limit: Number(plan.limit),
    ...(include.length > 0 && { include }),
    ...(exclude.length > 0 && { exclude }),
  };
}

const globsOf = (text: string): string[] => text.split(/[\s,]+/).filter((glob) => glob !== '');

const fields = [
  { name: 'depth', label: 'Maximum depth', hint: '3' },
  { name: 'limit', label: 'Maximum pages', hint: '1000' },
  { name: 'include', label: 'Include paths', hint: '/docs/*' },
  { name: 'exclude', label: 'Exclude paths', hint: '/archive/*' },
] as const;

export interface CrawlFormProps {
  readonly plan: CrawlPlan;
  readonly onChange: (plan: CrawlPlan) => void;
}

export function CrawlForm({ plan, onChange }: CrawlFormProps) {
  return (
    <>
      <div className="option-fields">
        {fields.map(({ name, label, hint }) => (
          <label key={name} className="field">
            <span>{label}</span>
            <input
              className="input"
              value={plan[name]}
              placeholder={hint}
              inputMode={name === 'depth' || name === 'limit' ? 'numeric' : undefined}
              onChange={(event) => onChange({ ...plan, [name]: event.target.value })}
            />
          </label>
        ))}
      </div>
      <p className="soft">
        Pawl follows links and sitemaps on the same site. It obeys robots.txt and the crawl delay of
        the site.
      </p>
    </>
  );
}
