/** What else can be done with an address: the whole site, and a corpus that stays in sync. */
import { Link } from '@tanstack/react-router';
import { Segments } from '../part/choice.tsx';
import { shellWord } from '../part/wording.ts';
import { CrawlForm, type CrawlPlan } from './add-crawl.tsx';
import { Schedule } from './source/schedule.tsx';

export type Extent = 'page' | 'site' | 'feed';

export interface Following {
  readonly isOn: boolean;
  readonly schedule: string;
}

export interface AddSyncProps {
  readonly addresses: number;
  /** The top folders of the chosen files. */
  readonly folders: readonly string[];
  readonly corpus: string;
  readonly extent: Extent;
  readonly crawl: CrawlPlan;
  readonly following: Following;
  readonly onExtent: (extent: Extent) => void;
  readonly onCrawl: (crawl: CrawlPlan) => void;
  readonly onFollowing: (following: Following) => void;
}

export function AddSync(props: AddSyncProps) {
  const { addresses, folders, corpus, extent, crawl, following } = props;
  if (addresses === 0 && folders.length === 0) return null;
  const { isOn } = following;
  return (
    <section className="card stack" aria-label="Scope">
      <div className="row spread">
        {addresses === 1 ? (
          <Segments
            label="How much of it"
            options={isOn ? [...extents, feed] : extents}
            value={!isOn && extent === 'feed' ? 'page' : extent}
            onChange={props.onExtent}
          />
        ) : (
          <span className="soft">{addresses > 1 ? 'Each page' : 'The chosen files'}</span>
        )}
        <label className="switch">
          <input
            type="checkbox"
            checked={isOn}
            onChange={({ target }) => props.onFollowing({ ...following, isOn: target.checked })}
          />
          Keep in sync
        </label>
      </div>
      {addresses === 1 && extent === 'site' && <CrawlForm plan={crawl} onChange={props.onCrawl} />}
      {isOn && addresses > 0 && (
        <Schedule
          value={following.schedule}
          onChange={(schedule) => props.onFollowing({ ...following, schedule })}
        />
      )}
      {isOn && folders.length > 0 && <FolderAdvice folder={folders[0] ?? ''} corpus={corpus} />}
      {isOn && folders.length === 0 && addresses === 0 && (
        <p className="soft">Single files cannot be followed. Choose their folder.</p>
      )}
    </section>
  );
}

const extents = [
  { value: 'page', name: 'This page' },
  { value: 'site', name: 'Whole site' },
] as const;
const feed = { value: 'feed', name: 'Feed' } as const;

/** A browser gives the files of a folder, but not its place. */
function FolderAdvice({ folder, corpus }: { folder: string; corpus: string }) {
  return (
    <p className="soft">
      {'A browser does not tell where a folder is, so these files are added once. '}
      To follow it: <code>{`pawl watch ./${shellWord(folder)} --corpus ${corpus}`}</code>, or{' '}
      <Link to="/sources/new" search={{ kind: 'folder', corpus }}>
        add the folder as a source
      </Link>{' '}
      by its path on the machine of the service.
    </p>
  );
}
