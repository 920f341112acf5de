import { useBlocker } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { texts } from '../../../texts/texts.ts';
import { usePermission } from '../../session/session.ts';
import { mergeDefinitions } from '../form/json-members.ts';
import { type StoredDefinition, useDefinitionCheck, useDefinitionSave } from '../use-definition.ts';

export interface DraftSource {
  readonly stored: StoredDefinition;
  /** Reads the stored definition again. */
  reload(): Promise<StoredDefinition | undefined>;
}

/** Edited text of a definition: checked while it is edited, compared before it is saved, merged after a conflict. */
export function useDefinitionDraft({ stored, reload }: DraftSource, merge = mergeDefinitions) {
  const canWrite = usePermission('apis:write');
  /** The state that the edits are based on; a later read does not replace it under the cursor. */
  const [base, setBase] = useState(stored);
  const [text, setText] = useState(stored.text);
  const [isReviewing, setReviewing] = useState(false);
  const isDirty = text !== base.text;
  useEffect(() => {
    if (isDirty) return;
    setBase(stored);
    setText(stored.text);
  }, [stored, isDirty]);
  // Another view of the same page keeps the edits.
  useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname && !confirm(texts.apis.leave),
    enableBeforeUnload: () => isDirty,
  });
  const check = useDefinitionCheck(base.api, text, canWrite && isDirty);
  const save = useDefinitionSave(base, () => {
    setBase(before => ({ ...before, text }));
    setReviewing(false);
    void reload();
  });
  const close = () => {
    setReviewing(false);
    save.reset();
  };
  const discard = () => setText(base.text);
  const takeStored = () => {
    discard();
    close();
    void reload();
  };
  /** The stored state becomes the base, with the edits on top of it, for another look before the save. */
  const applyOnTop = async () => {
    const theirs = await reload();
    if (!theirs) return;
    const merged = merge(JSON.parse(base.text), JSON.parse(text), JSON.parse(theirs.text));
    setBase(theirs);
    setText(JSON.stringify(merged, null, 2));
    save.reset();
  };
  return {
    canWrite,
    base,
    text,
    setText,
    isDirty,
    check,
    save,
    isReviewing,
    setReviewing,
    close,
    discard,
    takeStored,
    applyOnTop,
  };
}

export type DefinitionDraft = ReturnType<typeof useDefinitionDraft>;
