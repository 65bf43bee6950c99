/** What a person can do with a source. Every action is one call, and the page reads it again. */
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { counted } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';

export type SourceAction = 'run' | 'plan' | 'pause' | 'resume' | 'apply' | 'ignore' | 'remove';

const said: Readonly<Partial<Record<SourceAction, (name: string) => string>>> = {
  pause: (name) => `${name} is paused.`,
  resume: (name) => `${name} is followed again.`,
  apply: () => 'The removals are applied. They can be undone for 7 days.',
  ignore: () => 'The documents stay until their files are back.',
  remove: (name) => `${name} is no longer followed. Its documents stay.`,
};

export function useSourceAction(name: string) {
  const { client, notices, queries } = useWorkbench();
  const navigate = useNavigate();
  const send = async (action: SourceAction): Promise<number | undefined> => {
    const ask = { params: { name } };
    if (action === 'run' || action === 'plan') {
      const body = { plan: action === 'plan' };
      return (await client().ask('POST /sources/:name/run', { ...ask, body })).run_id;
    }
    if (action === 'remove') await client().ask('DELETE /sources/:name', ask);
    else await client().ask(`POST /sources/:name/${action}`, ask);
    return undefined;
  };
  return useMutation({
    mutationFn: send,
    onSuccess: async (run, action) => {
      const text = said[action]?.(name);
      if (text) notices.tell(text);
      if (action === 'remove') await navigate({ to: '/sources' });
      else if (run !== undefined)
        await navigate({ to: '/sources/$name', params: { name }, search: { run } });
    },
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
    onSettled: (_run, _error, action) =>
      queries.invalidateQueries({ queryKey: ['sources'], exact: action === 'remove' }),
  });
}

/** Brings removed documents back: those with the keys, or all. */
export function useRestore(name: string) {
  const { client, notices, queries } = useWorkbench();
  return useMutation({
    mutationFn: (keys: readonly string[] | undefined) =>
      client().ask('POST /sources/:name/restore', {
        params: { name },
        body: keys ? { keys: [...keys] } : {},
      }),
    onSuccess: ({ restored }) => notices.tell(`${counted(restored, 'document')} restored.`),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['sources', name] }),
  });
}
