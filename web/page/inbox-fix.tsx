/** Repairs a failed document in its place: another address, or another file of the same name. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import type { Item } from '../../src/contract/schema/schema.ts';
import { linkOf } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { checkAddress } from './preflight.ts';

const uploaded = 'upload:';

export function Fix({ item }: { item: Item }) {
  if (linkOf(item.source) !== undefined) return <FixAddress item={item} />;
  return item.source.startsWith(uploaded) ? <ReplaceFile item={item} /> : null;
}

/** The new address is another document, so the failure of the old one is discarded after it. */
function FixAddress({ item: { item_id, source, corpus_name } }: { item: Item }) {
  const { client, notices, queries } = useWorkbench();
  const [text, setText] = useState(source);
  const { name: url, verdict, note } = checkAddress(text.trim());
  const isValid = verdict === 'ready';
  const fix = useMutation({
    mutationFn: async () => {
      await client().ask('POST /jobs', { body: { corpus_name, urls: [url] } });
      await client().ask('POST /inbox/discard', { body: { item_ids: [item_id] } });
    },
    onSuccess: () => notices.tell('The corrected address is being added.'),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['inbox'] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    fix.mutate();
  };
  return (
    <form className="row fix" onSubmit={submit}>
      <label className="field grow">
        <span>Correct the address</span>
        <input
          className="input"
          value={text}
          aria-invalid={!isValid}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      <button
        type="submit"
        className="button"
        disabled={!isValid || url === source || fix.isPending}
      >
        Add this instead
      </button>
      {!isValid && <span className="tone-bad">{note}</span>}
    </form>
  );
}

/** The file keeps the name of the failed one, so it is the same document. */
function ReplaceFile({ item: { item_id, source, corpus_name } }: { item: Item }) {
  const { client, notices, queries } = useWorkbench();
  const id = useId();
  const name = source.slice(uploaded.length);
  const replace = useMutation({
    mutationFn: async (blob: File) => {
      await client().upload({ corpus_name, files: [{ name, blob }] });
      await client().ask('POST /inbox/discard', { body: { item_ids: [item_id] } });
    },
    onSuccess: () => notices.tell(`The new ${name} is being added.`),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['inbox'] }),
  });
  return (
    <p className="row">
      <label htmlFor={id} className="button chooser">
        {replace.isPending ? 'Sending…' : 'Replace the file'}
        <input
          id={id}
          type="file"
          disabled={replace.isPending}
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file) replace.mutate(file);
            target.value = '';
          }}
        />
      </label>
      <span className="soft">{`It is added as ${name}.`}</span>
    </p>
  );
}
