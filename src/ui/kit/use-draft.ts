import { useBlocker } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Edited copy of an object as it was read. Members that no field shows are sent back as they are. */
export interface Draft<Value> {
  readonly value: Value;
  readonly isDirty: boolean;
  /** The object as it was read before the edits. */
  readonly base: Value;
  /** Entity tag of the read that the edits are based on. */
  readonly etag: string | undefined;
  change(some: Partial<Value>): void;
  discard(): void;
  /** After a save: the edits are the stored state now. */
  accept(): void;
}

export interface DraftOptions {
  /** The form stays mounted while its tabs change. */
  readonly hasTabs?: boolean;
}

/** A later read replaces the draft only while it has no edits. Leaving with edits asks once. */
export function useDraft<Value extends object>(
  stored: Value,
  etag?: string,
  { hasTabs = false }: DraftOptions = {},
): Draft<Value> {
  const [base, setBase] = useState({ value: stored, etag });
  const [value, setValue] = useState(stored);
  const isDirty = !isSame(value, base.value);
  useEffect(() => {
    if (isDirty) return;
    setBase({ value: stored, etag });
    setValue(stored);
  }, [stored, etag, isDirty]);
  useBlocker({
    shouldBlockFn: ({ current, next }) => {
      const isTab = hasTabs && current.pathname === next.pathname;
      return isDirty && !isTab && !confirm(sharedTexts.kit.leave);
    },
    enableBeforeUnload: () => isDirty,
  });
  return {
    value,
    isDirty,
    base: base.value,
    etag: base.etag,
    change: some => setValue(before => ({ ...before, ...some })),
    discard: () => setValue(base.value),
    accept: () => setBase({ ...base, value }),
  };
}
