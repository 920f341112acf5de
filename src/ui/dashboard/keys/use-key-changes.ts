import { useEffect, useRef, useState } from 'react';
import { type ArgumentsOf, callServer, type ResultOf } from '../../kit/calls.ts';
import { useReload } from '../../kit/queries.ts';

export type SentKeyChanges = NonNullable<ArgumentsOf<'POST /api/bulk'>['body']['changes']>;
export type KeyOutcome = ResultOf<'POST /api/bulk'>['results'][number];

/** Keys of one request: the progress moves after each. */
const maxKeysPerRequest = 10;

export const isFailedOutcome = ({ status }: KeyOutcome): boolean => status >= 300;

/** Changes many keys in several requests; the ones that have not begun when the dialog closes are not sent. */
export function useKeyChanges() {
  const reload = useReload(['GET /api/keys/detailed']);
  const [outcomes, setOutcomes] = useState<readonly KeyOutcome[]>([]);
  const [total, setTotal] = useState(0);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<Error>();
  const closed = useRef(false);
  useEffect(() => {
    closed.current = false;
    return () => {
      closed.current = true;
    };
  }, []);
  const send = async (hashes: readonly string[], changes: SentKeyChanges) => {
    for (let at = 0; at < hashes.length && !closed.current; at += maxKeysPerRequest) {
      const ids = hashes.slice(at, at + maxKeysPerRequest);
      const { value } = await callServer('POST /api/bulk', { body: { kind: 'keys', action: 'change', ids, changes } });
      setOutcomes(before => [...before, ...value.results]);
    }
  };
  const run = async (hashes: readonly string[], changes: SentKeyChanges) => {
    setOutcomes([]);
    setError(undefined);
    setTotal(hashes.length);
    setRunning(true);
    try {
      await send(hashes, changes);
    } catch (reason) {
      setError(reason as Error);
    } finally {
      setRunning(false);
      await reload().catch(() => undefined);
    }
  };
  return { run: (...given: Parameters<typeof run>) => void run(...given), outcomes, total, isRunning, error };
}
