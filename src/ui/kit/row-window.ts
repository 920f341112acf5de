import { type RefObject, useEffect, useRef, useState } from 'react';

/** Longer lists keep only the rows near the screen in the document. */
const maxWholeRows = 100;
/** Rows of the first render, before anything was measured: more of them make one long task of the main thread. */
const firstRows = 8;
/** Rows that one frame adds to those in the document. */
const maxAddedRows = 12;
/** Rows above and below the screen. */
const extraRows = 6;
/** Until a row was measured. */
const defaultRowPx = 40;

interface RowRange {
  readonly first: number;
  readonly end: number;
}

export interface RowWindow extends RowRange {
  readonly body: RefObject<HTMLTableSectionElement | null>;
  /** Heights of the rows that are not in the document. */
  readonly abovePx: number;
  readonly belowPx: number;
}

const measure = (body: HTMLTableSectionElement, count: number, rowPx: number): RowRange => {
  const aboveRows = Math.floor(-body.getBoundingClientRect().top / rowPx) - extraRows;
  const first = Math.max(0, Math.min(aboveRows, count - 1));
  return { first, end: Math.min(count, first + Math.ceil(window.innerHeight / rowPx) + 2 * extraRows) };
};

/** Virtual rows: the part of a long list that is on the screen, by the scroll position and the mean height of a row. */
export function useRowWindow(count: number): RowWindow {
  const body = useRef<HTMLTableSectionElement>(null);
  const rowPx = useRef(defaultRowPx);
  const isWindowed = count > maxWholeRows;
  const [range, setRange] = useState<RowRange>({ first: 0, end: firstRows });
  useEffect(() => {
    if (!isWindowed) return;
    let frame = 0;
    const update = () => {
      const element = body.current;
      if (!element) return;
      const rows = [...element.querySelectorAll<HTMLElement>(':scope > tr[aria-rowindex]')];
      const height = rows.reduce((sum, row) => sum + row.offsetHeight, 0);
      if (height > 0) rowPx.current = height / rows.length;
      const { first, end } = measure(element, count, rowPx.current);
      const next = { first, end: Math.min(end, first + rows.length + maxAddedRows) };
      if (next.end < end) frame = requestAnimationFrame(update);
      setRange(before => (before.first === next.first && before.end === next.end ? before : next));
    };
    // In a frame of its own: the task of the first rows has ended by then.
    frame = requestAnimationFrame(update);
    document.addEventListener('scroll', update, { capture: true, passive: true });
    window.addEventListener('resize', update);
    return () => {
      cancelAnimationFrame(frame);
      document.removeEventListener('scroll', update, { capture: true });
      window.removeEventListener('resize', update);
    };
  }, [isWindowed, count]);
  if (!isWindowed) return { body, first: 0, end: count, abovePx: 0, belowPx: 0 };
  const end = Math.min(range.end, count);
  return {
    body,
    first: range.first,
    end,
    abovePx: range.first * rowPx.current,
    belowPx: (count - end) * rowPx.current,
  };
}
