/** What was not read of a document, why, and how to see it. */
import type { Document } from '../../src/contract/schema/schema.ts';
import { isPartlyRead, keptPercent } from '../../src/kernel/text/kept-share.ts';
import { Badge } from '../part/basic.tsx';
import { extractCommand } from '../part/wording.ts';

/** Nothing for a document that was read as a whole. */
export function ReadInPart({ document }: { document: Document }) {
  const { kept_share: share, warnings } = document;
  if (!isPartlyRead(share) && warnings.length === 0) return null;
  return (
    <section className="card stack" aria-label="What was not read">
      <h2 className="tone-warn">{headingOf(share)}</h2>
      {warnings.length > 0 && (
        <ul>
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <p className="small soft">
        {'To see what was dropped: '}
        <code>{extractCommand(document.source_url)}</code>
      </p>
    </section>
  );
}

function headingOf(share: number | null): string {
  if (share === null || share === 1) return 'Read with a warning';
  const kept = `${keptPercent(share)} % of the text was kept`;
  return isPartlyRead(share) ? `Read in part: ${kept}` : kept;
}

/** Stands before the title in a list. */
export function PartMark({ document: { kept_share: share } }: { document: Document }) {
  if (share === null || !isPartlyRead(share)) return null;
  return (
    <>
      <Badge tone="warn">{`${keptPercent(share)} % kept`}</Badge>{' '}
    </>
  );
}
