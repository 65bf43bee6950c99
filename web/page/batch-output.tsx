/** The results of a batch task: the first part to read, all of it to download. */
import { useMutation } from '@tanstack/react-query';
import { Problem } from '../part/basic.tsx';
import { counted } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';

const shownMax = 20_000;

export function TaskOutput({ taskId: id }: { taskId: string }) {
  const { client } = useWorkbench();
  const read = useMutation({
    mutationFn: async () => {
      const output = await client().ask('GET /batch/tasks/:id/output', { params: { id } });
      return JSON.stringify(output, null, 2);
    },
  });
  const text = read.data;
  return (
    <section className="card stack" aria-label="Results">
      <div className="row spread">
        <h2>Results</h2>
        {text === undefined ? (
          <button
            type="button"
            className="button"
            disabled={read.isPending}
            onClick={() => read.mutate()}
          >
            Show results
          </button>
        ) : (
          <button type="button" className="button" onClick={() => save(text, `batch-${id}.json`)}>
            Download all
          </button>
        )}
      </div>
      {read.isError && <Problem error={read.error} onRetry={() => read.mutate()} />}
      {text !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
        <pre className="output" tabIndex={0}>
          {text.slice(0, shownMax)}
        </pre>
      )}
      {text !== undefined && text.length > shownMax && (
        <p className="soft small">
          {`The first ${counted(shownMax, 'character')} of ${counted(text.length, 'character')}.`}
        </p>
      )}
    </section>
  );
}

/** Downloaded by script, because the address requires the key in a header. */
function save(text: string, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
