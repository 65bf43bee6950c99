/** Shown before any page if the service requires a key, or has refused the one it got. */
import { type FormEvent, useState } from 'react';
import { Client } from '../src/client/http.ts';
import { Failure } from '../src/kernel/failure/failure.ts';
import { Problem } from './part/basic.tsx';
import { useWorkbench } from './workbench.ts';

export function Gate({ refusal }: { refusal: 'missing' | 'refused' }) {
  const { keyring, connection } = useWorkbench();
  const [key, setKey] = useState('');
  const [isKept, setKept] = useState(false);
  const [error, setError] = useState<unknown>();
  const isRefused =
    error instanceof Failure ? error.code === 'unauthorized' : refusal === 'refused';
  const give = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const client = new Client({ url: location.origin, key: key.trim(), fetch: connection.fetch });
    try {
      await client.ask('GET /corpora', { query: { limit: 1 } });
      keyring.give(key.trim(), isKept);
    } catch (refused) {
      setError(refused);
    }
  };
  return (
    <main className="gate">
      <form className="card stack" onSubmit={(event) => void give(event)}>
        <h1>{isRefused ? 'This key was refused' : 'API key required'}</h1>
        <p className="soft">
          This service requires an API key. It is sent with every request as <code>X-API-Key</code>,
          and to no other server.
        </p>
        <label className="field">
          <span>API key</span>
          <input
            className="input large"
            type="password"
            autoComplete="off"
            value={key}
            aria-invalid={isRefused}
            onChange={(event) => setKey(event.target.value)}
          />
        </label>
        <label className="switch">
          <input
            type="checkbox"
            checked={isKept}
            onChange={(event) => setKept(event.target.checked)}
          />
          Keep it in this browser
        </label>
        {error !== undefined && <Problem error={error} />}
        <button type="submit" className="button primary" disabled={key.trim() === ''}>
          Continue
        </button>
      </form>
    </main>
  );
}
