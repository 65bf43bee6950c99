/** Steps through the passages that have the words of the search, wherever in the document. */
import { useNavigate } from '@tanstack/react-router';
import { AddressedInput } from '../../part/addressed-input.tsx';
import { useKeys } from '../../part/keys.ts';
import { count, counted } from '../../part/wording.ts';
import { type FoundPassages, passagesMax } from './found-passages.ts';

export interface WordStepsProps {
  readonly words: string | undefined;
  readonly chosen: string | undefined;
  readonly found: FoundPassages;
}

export function WordSteps({ words, chosen, found: { passages } }: WordStepsProps) {
  const navigate = useNavigate({ from: '/documents/$id' });
  const place = passages.findIndex(({ chunk_id }) => chunk_id === chosen);
  const step = (by: number): void => {
    const next = passages[(place + by + passages.length) % passages.length];
    if (next) void navigate({ search: (all) => ({ ...all, chunk: next.chunk_id }), replace: true });
  };
  const forth = (): void => step(1);
  const back = (): void => step(place < 0 ? 0 : -1);
  useKeys({ n: forth, N: back });
  return (
    <search className="row word-steps">
      <AddressedInput
        label="Words to mark"
        isLabelHidden
        className="input"
        type="search"
        placeholder="Find in this document"
        value={words}
        onType={(q) =>
          void navigate({ search: ({ q: _, ...rest }) => ({ ...rest, q }), replace: true })
        }
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          if (event.shiftKey) back();
          else forth();
        }}
      />
      {words && (
        <span className="soft small" role="status">
          {place >= 0 && `${count(place + 1)} of `}
          {passages.length === passagesMax
            ? `the best ${count(passagesMax)} passages`
            : counted(passages.length, 'passage')}
        </span>
      )}
      {passages.length > 0 && (
        <>
          <button type="button" className="button" onClick={back} title="Previous (N)">
            Previous
          </button>
          <button type="button" className="button" onClick={forth} title="Next (n)">
            Next
          </button>
        </>
      )}
    </search>
  );
}
