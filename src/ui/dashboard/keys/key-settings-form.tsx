import { type FormEvent, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { Switch, TextField } from '../../kit/field.tsx';
import { JsonField } from '../../kit/json-field.tsx';
import { LinesField } from '../../kit/lines-field.tsx';
import { fromLocalTime, toLocalTime } from '../../kit/local-time.ts';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useWrite } from '../../kit/queries.ts';
import { SaveBar } from '../../kit/save-bar.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { type Draft, useDraft } from '../../kit/use-draft.ts';
import { texts } from '../../texts/texts.ts';
import { ConflictDialog, isConflict } from '../forms/conflict-dialog.tsx';
import { LimitFields } from '../limits/limit-fields.tsx';
import { ApiPicker } from '../pickers/api-picker.tsx';
import { PolicyPicker } from '../pickers/policy-picker.tsx';
import { usePermission } from '../session/session.ts';
import type { NameOfPolicy } from './effective-table.tsx';
import { type KeyData, type KeyFacts, nameKey } from './key-facts.ts';

const own = texts.keys;
const refreshed = ['GET /api/keys/detailed', 'GET /api/keys/{keyId}'] as const;

interface KeySettingsProps {
  readonly facts: KeyFacts;
  readonly data: KeyData;
  readonly etag: string | undefined;
  readonly nameOfPolicy: NameOfPolicy;
}

/** Settings of a key. Saving keeps the quota; resetting it is a button of its own. */
export function KeySettingsForm({ facts, data, etag, nameOfPolicy }: KeySettingsProps) {
  const canWrite = usePermission('keys:write');
  const draft = useDraft(data, etag);
  const [fault, setFault] = useState<string>();
  const { save, overwrite, error, isPending, reset } = useKeySave(facts, draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (fault === undefined) save({ resetsQuota: false });
  };
  const { value, change } = draft;
  return (
    <form onSubmit={submit} className="flex max-w-[960px] flex-col gap-4">
      <ErrorText error={isConflict(error) ? null : error} />
      <AccessCard value={value} change={change} nameOfPolicy={nameOfPolicy} isDisabled={!canWrite} />
      <Card title={own.ownLimits}>
        {(value.apply_policies ?? []).length > 0 && <p className="mb-4 text-dim">{own.policyLimits}</p>}
        <LimitFields limits={value} onChange={change} isDisabled={!canWrite} />
      </Card>
      <DetailsCard value={value} change={change} isDisabled={!canWrite} onFault={setFault} />
      {canWrite && (
        <SaveBar isDirty={draft.isDirty} isBusy={isPending} action={own.save} onDiscard={draft.discard}>
          <Button
            disabled={!draft.isDirty || fault !== undefined || isPending}
            onClick={() => save({ resetsQuota: true })}
          >
            {own.saveAndReset}
          </Button>
        </SaveBar>
      )}
      <ConflictDialog error={error} draft={draft} reads={refreshed} onClose={reset} onOverwrite={overwrite} />
    </form>
  );
}

interface SaveOptions {
  readonly resetsQuota: boolean;
  readonly isForced?: boolean;
}

function useKeySave(facts: KeyFacts, draft: Draft<KeyData>) {
  const toasts = useToasts();
  const { mutate, error, isPending, reset } = useWrite('PUT /api/keys/{keyId}', refreshed);
  const [hasReset, setReset] = useState(false);
  const save = ({ resetsQuota, isForced = false }: SaveOptions) => {
    setReset(resetsQuota);
    mutate(
      {
        given: {
          params: { keyId: facts.hash },
          query: { hashed: 'true', ...(resetsQuota ? {} : { suppress_reset: '1' }) },
          body: draft.value,
        },
        options: { wait: 'applied', ifMatch: isForced ? undefined : draft.etag },
      },
      {
        onSuccess: () => {
          draft.accept();
          toasts.showSuccess((resetsQuota ? own.savedReset : own.saved)(nameKey(facts)));
        },
      },
    );
  };
  /** Repeats the save that met the conflict. */
  const overwrite = () => save({ resetsQuota: hasReset, isForced: true });
  return { save, overwrite, error, isPending, reset };
}

interface PartProps {
  readonly value: KeyData;
  change(some: Partial<KeyData>): void;
  readonly isDisabled: boolean;
}

const newRight = ({ id, name }: PickItem) => ({ api_id: id, api_name: name, versions: ['Default'] });

function AccessCard({ value, change, isDisabled, nameOfPolicy }: PartProps & { nameOfPolicy: NameOfPolicy }) {
  const rights = value.access_rights ?? {};
  return (
    <Card title={own.access}>
      <div className="grid gap-6 min-[700px]:grid-cols-2">
        <PolicyPicker
          title={own.byPolicy}
          isDisabled={isDisabled}
          chosen={(value.apply_policies ?? []).map(id => ({ id, name: nameOfPolicy(id) }))}
          onChange={chosen => change({ apply_policies: chosen.map(({ id }) => id) })}
        />
        <ApiPicker
          title={own.byApis}
          isDisabled={isDisabled}
          chosen={Object.entries(rights).map(([id, right]) => ({ id, name: right?.api_name || id }))}
          onChange={chosen =>
            change({ access_rights: Object.fromEntries(chosen.map(it => [it.id, rights[it.id] ?? newRight(it)])) })
          }
        />
      </div>
    </Card>
  );
}

const DetailsCard = ({
  value,
  change,
  isDisabled,
  onFault,
}: PartProps & { onFault(fault: string | undefined): void }) => (
  <Card title={own.settingsTitle}>
    <fieldset disabled={isDisabled} className="flex flex-col gap-4">
      <TextField
        label={own.aliasField}
        help={own.aliasHelp}
        value={value.alias ?? ''}
        onChange={event => change({ alias: event.target.value })}
      />
      <TextField
        label={own.expiresAt}
        type="datetime-local"
        help={own.expiresHelp}
        value={toLocalTime(value.expires ?? 0)}
        onChange={event => change({ expires: fromLocalTime(event.target.value) })}
      />
      <Switch
        label={own.detailed}
        help={own.detailedHelp}
        checked={value.enable_detailed_recording === true}
        onChange={event => change({ enable_detailed_recording: event.target.checked })}
      />
      <LinesField
        label={own.tags}
        help={own.tagsHelp}
        values={value.tags ?? []}
        onChange={tags => change({ tags: [...tags] })}
      />
      <JsonField
        label={own.metaData}
        help={own.metaDataHelp}
        value={value.meta_data ?? {}}
        onChange={meta_data => change({ meta_data })}
        onFault={onFault}
      />
    </fieldset>
  </Card>
);
