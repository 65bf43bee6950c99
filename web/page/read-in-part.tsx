/** The unread parts of a document, the reasons, and how to see them. */
import type { Document } from '../../src/contract/schema/schema.ts';
import { isPartlyRead, keptPercent } from '../../src/kernel/text/kept-share.ts';
import { Badge } from '../part/basic.tsx';
import { extractCommand } from '../part/wording.ts';

/** Empty for a document that was read completely. */
export function ReadInPart({ document }: { document: Document }) {
  const { kept_share: share, warnings } = document;
  if (!isPartlyRead(share) && warnings.length === 0) return null;
  return (
    <section className="card stack" aria-label="Unread parts">
      <h2 className="tone-warn">{headingOf(share)}</h2>
      {warnings.length > 0 && (
        <ul>
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <p className="small soft">
        {'To see the dropped parts: '}
        <code>{extractCommand(document.source_url)}</code>
      </p>
    </section>
  );
}

function headingOf(share: number | null): string {
  if (share === null || share === 1) return 'Read with a warning';
  const kept = `${keptPercent(share)} % of the text was kept`;
  return isPartlyRead(share) ? `Partly read: ${kept}` : kept;
}

/** Shown before the title in a list. */
export function PartMark({ document: { kept_share: share } }: { document: Document }) {
  if (share === null || !isPartlyRead(share)) return null;
  return (
    <>
      <Badge tone="warn">{`${keptPercent(share)} % kept`}</Badge>{' '}
    </>
  );
}
