import { type FormEvent, useMemo, useState } from 'react';
import { useWrite } from '../../kit/queries.ts';
import { SaveBar } from '../../kit/save-bar.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { useDraft } from '../../kit/use-draft.ts';
import { webhookTexts } from '../../texts/en/webhooks.ts';
import { ConflictDialog, isConflict } from '../forms/conflict-dialog.tsx';
import { usePermission } from '../session/session.ts';
import { findHookFaults, type HookData, toHookBody } from './hook-draft.ts';
import { HookFields } from './hook-fields.tsx';

const own = webhookTexts;
const refreshed = ['GET /api/hooks', 'GET /api/hooks/{hookId}'] as const;

/** Settings of a stored webhook. */
export function HookSettings({ hook, etag }: { hook: HookData; etag: string | undefined }) {
  const canWrite = usePermission('hooks:write');
  const toasts = useToasts();
  const draft = useDraft(
    useMemo(() => toHookBody(hook), [hook]),
    etag,
  );
  const [headerFault, setHeaderFault] = useState<string>();
  const { mutate, error, isPending, reset } = useWrite('PUT /api/hooks/{hookId}', refreshed);
  const faults = findHookFaults(draft.value);
  const save = (isForced: boolean) =>
    mutate(
      {
        given: { params: { hookId: hook.id }, body: draft.value },
        options: { ifMatch: isForced ? undefined : draft.etag },
      },
      {
        onSuccess: () => {
          draft.accept();
          toasts.showSuccess(own.saved(draft.value.name));
        },
      },
    );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (Object.keys(faults).length === 0 && headerFault === undefined) save(false);
  };
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-4">
      <ErrorText error={isConflict(error) ? null : error} />
      <HookFields
        value={draft.value}
        change={draft.change}
        faults={draft.isDirty ? faults : {}}
        isDisabled={!canWrite}
        onHeaderFault={setHeaderFault}
      />
      {canWrite && <SaveBar isDirty={draft.isDirty} isBusy={isPending} action={own.save} onDiscard={draft.discard} />}
      <ConflictDialog error={error} draft={draft} reads={refreshed} onClose={reset} onOverwrite={() => save(true)} />
    </form>
  );
}
