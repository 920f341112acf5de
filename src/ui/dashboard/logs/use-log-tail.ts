import { useCallback, useEffect, useRef, useState } from 'react';
import { type LogRow, type LogSearch, type TailedRequest, toLogFilters } from './log-filters.ts';

export type TailState = 'connecting' | 'open' | 'ended';

/** Rows that the page has at most; older ones are dropped. */
export const maxTailRows = 1000;

interface Tail {
  readonly state: TailState;
  /** Newest first. */
  readonly rows: readonly LogRow[];
  /** Rows received while paused, newest first. */
  readonly held: readonly LogRow[];
  readonly heldCount: number;
  readonly skipped: number;
  /** More keys match the filter than it has. */
  readonly isKeyCut: boolean;
}

const emptyTail: Tail = { state: 'connecting', rows: [], held: [], heldCount: 0, skipped: 0, isKeyCut: false };
const addRow = (rows: readonly LogRow[], row: LogRow) => [row, ...rows].slice(0, maxTailRows);

const addCall = (tail: Tail, row: LogRow, isPaused: boolean): Tail =>
  isPaused
    ? { ...tail, held: addRow(tail.held, row), heldCount: tail.heldCount + 1 }
    : { ...tail, rows: addRow(tail.rows, row) };

/** Live tail: server-sent events of requests that match. The browser reconnects by itself after the last event. */
export function useLogTail(search: LogSearch) {
  const [tail, setTail] = useState(emptyTail);
  const [isPaused, setPaused] = useState(false);
  const pausedNow = useRef(false);
  const query = new URLSearchParams(toLogFilters(search)).toString();

  useEffect(() => {
    setTail(emptyTail);
    const source = new EventSource(`/api/logs/stream?${query}`);
    source.addEventListener('open', () => setTail(it => ({ ...it, state: 'open' })));
    source.addEventListener('error', () =>
      setTail(it => ({ ...it, state: source.readyState === EventSource.CLOSED ? 'ended' : 'connecting' })),
    );
    source.addEventListener('call', ({ data, lastEventId }: MessageEvent<string>) => {
      const row = { id: lastEventId, call: JSON.parse(data) as TailedRequest };
      const isHeld = pausedNow.current;
      setTail(it => addCall(it, row, isHeld));
    });
    source.addEventListener('skipped', ({ data }: MessageEvent<string>) => {
      const { at_least } = JSON.parse(data) as { at_least: number };
      setTail(it => ({ ...it, skipped: it.skipped + at_least }));
    });
    source.addEventListener('keys_cut', () => setTail(it => ({ ...it, isKeyCut: true })));
    return () => source.close();
  }, [query]);

  const pause = useCallback((next: boolean) => {
    pausedNow.current = next;
    setPaused(next);
    if (!next) setTail(showHeld);
  }, []);
  return { ...tail, isPaused, pause };
}

const showHeld = (tail: Tail): Tail => ({
  ...tail,
  rows: [...tail.held, ...tail.rows].slice(0, maxTailRows),
  held: [],
  heldCount: 0,
});
