import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { SaveBar } from '../../kit/save-bar.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { type Draft, useDraft } from '../../kit/use-draft.ts';
import { texts } from '../../texts/texts.ts';
import { ConflictDialog, isConflict } from '../forms/conflict-dialog.tsx';
import { usePermission } from '../session/session.ts';
import { PolicyAccess } from './policy-access.tsx';
import { PolicyDetails } from './policy-details.tsx';
import { findFaults, idOfPolicy, nameTab, type PolicyData, toPolicyBody } from './policy-draft.ts';
import { PolicyKeys } from './policy-keys.tsx';
import { PolicyLimits } from './policy-limits.tsx';
import { PolicyMerge } from './policy-merge.tsx';

const own = texts.policies;
const refreshed = ['GET /api/portal/policies/search', 'GET /api/portal/policies/{policyId}'] as const;

interface PolicyFormProps {
  readonly stored: PolicyData;
  readonly etag?: string | undefined;
  readonly isNew: boolean;
  readonly tab: string;
}

/** Form of a policy in tabs. A save that changes keys asks first, with their number. */
export function PolicyForm({ stored, etag, isNew, tab }: PolicyFormProps) {
  const canWrite = usePermission('policies:write');
  const canSeeKeys = usePermission('keys');
  const draft = useDraft(stored, etag, { hasTabs: true });
  const [isChecked, setChecked] = useState(false);
  const [textFaults, setTextFaults] = useState<Readonly<Record<string, string | undefined>>>({});
  const save = usePolicySave(draft, isNew);
  const faults = isChecked ? findFaults(draft.value, isNew) : [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    const isFaulty = findFaults(draft.value, isNew).length > 0 || Object.values(textFaults).some(Boolean);
    if (!isFaulty) save.start();
  };
  const parts = {
    value: draft.value,
    change: draft.change,
    isDisabled: !canWrite,
    hasName: nameTab(isNew) === tab,
    faultOf: (field: string) => faults.find(it => it.field === field)?.text,
    onFault: (name: string, fault: string | undefined) => setTextFaults(before => ({ ...before, [name]: fault })),
  };
  const tabs = (
    ['access', 'limits', 'details', ...(isNew || !canSeeKeys ? [] : (['keys', 'merge'] as const))] as const
  ).map(id => ({ id, label: own.tabs[id], faults: faults.filter(it => it.tab === id).length }));
  const policyId = idOfPolicy(stored);
  return (
    <form noValidate onSubmit={submit} className="flex max-w-[1200px] flex-col gap-4 [&>nav]:mb-0">
      <Tabs label={own.title} items={tabs} current={tab} />
      <ErrorText error={faults.length > 0 ? new Error(faults.map(({ text }) => text).join(' ')) : null} />
      <ErrorText error={isConflict(save.error) ? null : save.error} />
      {tab === 'access' && <PolicyAccess {...parts} />}
      {tab === 'limits' && <PolicyLimits {...parts} />}
      {tab === 'details' && <PolicyDetails {...parts} />}
      {tab === 'keys' && <PolicyKeys policyId={policyId} />}
      {tab === 'merge' && <PolicyMerge policyId={policyId} name={stored.name ?? ''} />}
      {canWrite && tab !== 'keys' && tab !== 'merge' && (
        <SaveBar
          isDirty={draft.isDirty}
          isNew={isNew}
          isBusy={save.isPending}
          action={isNew ? own.createAction : own.save}
          onDiscard={draft.discard}
        />
      )}
      <SaveDialogs draft={draft} save={save} />
    </form>
  );
}

type PolicySave = ReturnType<typeof usePolicySave>;

const SaveDialogs = ({ draft, save }: { draft: Draft<PolicyData>; save: PolicySave }) => (
  <>
    <ConfirmDialog
      isOpen={save.isAsking}
      tier={2}
      title={own.saveTitle(draft.value.name ?? '')}
      consequence={draft.value.state === 'deny' ? own.saveDenies(save.keyCount) : own.saveChanges(save.keyCount)}
      action={own.saveAction(draft.value.name ?? '')}
      kind={draft.value.state === 'deny' ? 'danger' : 'primary'}
      isBusy={save.isPending}
      onConfirm={() => save.run(false)}
      onClose={save.cancel}
    />
    <ConflictDialog
      error={save.error}
      draft={draft}
      reads={refreshed}
      onClose={save.reset}
      onOverwrite={() => save.run(true)}
    />
  </>
);

/** Creates or replaces; a policy with keys is confirmed first. */
function usePolicySave(draft: Draft<PolicyData>, isNew: boolean) {
  const toasts = useToasts();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const canSeeKeys = usePermission('keys');
  const policyId = idOfPolicy(draft.value);
  const counts = useOperation(
    'GET /api/keys/counts',
    { query: { policy_id: policyId } },
    { enabled: !isNew && canSeeKeys },
  );
  const keyCount = counts.data?.value.policies[policyId] ?? 0;
  const creation = useWrite('POST /api/portal/policies', refreshed);
  const update = useWrite('PUT /api/portal/policies/{policyId}', refreshed);
  const body = toPolicyBody(draft.value);
  const name = draft.value.name ?? '';
  const finish = ({ warnings = [] }: { readonly warnings?: readonly string[] | undefined }) => {
    draft.accept();
    toasts.showSuccess(own.saved(name));
    for (const warning of warnings) toasts.showWarning(warning);
  };
  const run = (isForced: boolean) => {
    if (isNew)
      return creation.mutate(
        { given: { body }, options: { wait: 'applied' } },
        {
          onSuccess: ({ value }) => {
            finish(value);
            void navigate({
              to: '/policies/$policyId',
              params: { policyId: String(value.Message) },
              ignoreBlocker: true,
            });
          },
        },
      );
    update.mutate(
      {
        given: { params: { policyId }, body },
        options: { wait: 'applied', ifMatch: isForced ? undefined : draft.etag },
      },
      { onSuccess: ({ value }) => finish(value), onSettled: () => setAsking(false) },
    );
  };
  return {
    run,
    start: () => (!isNew && keyCount > 0 ? setAsking(true) : run(false)),
    cancel: () => setAsking(false),
    reset: update.reset,
    isAsking,
    keyCount,
    error: isNew ? creation.error : update.error,
    isPending: creation.isPending || update.isPending,
  };
}
