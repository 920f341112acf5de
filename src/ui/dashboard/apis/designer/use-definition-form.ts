import { useCallback, useMemo, useState } from 'react';
import { toPointer } from '../../../kit/json-pointer.ts';
import type { DefinitionForm } from '../form/form-context.ts';
import { type FieldPath, type FormObject, readFieldValue, withMember } from '../form/json-members.ts';
import type { DefinitionDraft } from './use-draft.ts';

/** Form over the text of a draft: a field changes its member and nothing else. */
export function useDraftForm({ text, setText, canWrite, check, isDirty }: DefinitionDraft, filter = '') {
  const definition = useMemo(() => JSON.parse(text) as FormObject, [text]);
  const [incomplete, setIncompleteSet] = useState<ReadonlySet<string>>(new Set());
  const setIncomplete = useCallback((pointer: string, isIncomplete: boolean) => {
    setIncompleteSet(before => {
      if (before.has(pointer) === isIncomplete) return before;
      const next = new Set(before);
      if (!next.delete(pointer)) next.add(pointer);
      return next;
    });
  }, []);
  const faults = isDirty ? check.faults : [];
  const form: DefinitionForm = {
    read: path => readFieldValue(definition, path),
    set: (path: FieldPath, value: unknown) => setText(JSON.stringify(withMember(definition, path, value), null, 2)),
    isReadOnly: !canWrite,
    findFault: path => faults.find(({ pointer }) => pointer === toPointer(path))?.message,
    setIncomplete,
    filter,
  };
  return { form, definition, faults, isIncomplete: incomplete.size > 0 };
}
