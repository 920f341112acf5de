import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { SelectField, Switch, TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { SaveBar } from '../../kit/save-bar.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { useDraft } from '../../kit/use-draft.ts';
import { signOnTexts } from '../../texts/en/sign-on.ts';
import { ConflictDialog, isConflict } from '../forms/conflict-dialog.tsx';
import { MappingFields } from './mapping-fields.tsx';
import { chooseProvider, type ProfileBody, type SignOnProvider } from './profile-draft.ts';
import { ProfileJson } from './profile-json.tsx';
import { ProviderFields } from './provider-fields.tsx';
import { ProviderTest } from './provider-test.tsx';

const own = signOnTexts;
const refreshed = ['GET /api/sso/profiles', 'GET /api/sso/profiles/{profileId}'] as const;

interface ProfileFormProps {
  readonly stored: ProfileBody;
  readonly etag?: string | undefined;
  /** Absent: a new profile. */
  readonly profileId?: string;
  readonly canWrite: boolean;
}

/** Profile, provider, mapping. */
export function ProfileForm({ stored, etag, profileId, canWrite }: ProfileFormProps) {
  const draft = useDraft(stored, etag);
  const { value, change } = draft;
  const [isChecked, setChecked] = useState(false);
  const [mappingFault, setMappingFault] = useState<string>();
  const [isJson, setJson] = useState(false);
  const { save, error, isPending, reset } = useProfileSave(draft, profileId);
  const isNamed = value.Name.trim() !== '';
  /** The other view shows the profile again, without the text of a fault. */
  const showJson = (is: boolean) => {
    setJson(is);
    setMappingFault(undefined);
  };
  const discard = () => {
    draft.discard();
    showJson(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (isNamed && mappingFault === undefined) save(false);
  };
  return (
    <form noValidate onSubmit={submit} className="flex max-w-[960px] flex-col gap-4">
      <ErrorText error={isConflict(error) ? null : error} />
      <Switch label={own.asJson} checked={isJson} onChange={event => showJson(event.target.checked)} />
      {isJson ? (
        <ProfileJson value={value} change={change} isDisabled={!canWrite} onFault={setMappingFault} />
      ) : (
        <>
          <ProfileFields value={value} change={change} isDisabled={!canWrite} isNameMissing={isChecked && !isNamed}>
            {canWrite && <ProviderTest body={value} {...(profileId && !draft.isDirty ? { profileId } : {})} />}
          </ProfileFields>
          <Card title={own.mapping}>
            <fieldset disabled={!canWrite} className="flex flex-col gap-4">
              <MappingFields value={value} change={change} onFault={setMappingFault} />
            </fieldset>
          </Card>
        </>
      )}
      {canWrite && profileId && (
        <>
          <p className="text-dim">{own.saveHelp}</p>
          <SaveBar isDirty={draft.isDirty} isBusy={isPending} action={own.save} onDiscard={discard} />
        </>
      )}
      {canWrite && !profileId && (
        <Button kind="primary" type="submit" isBusy={isPending} className="self-end">
          {own.createAction}
        </Button>
      )}
      <ConflictDialog error={error} draft={draft} reads={refreshed} onClose={reset} onOverwrite={() => save(true)} />
    </form>
  );
}

interface ProfileFieldsProps {
  readonly value: ProfileBody;
  change(some: Partial<ProfileBody>): void;
  readonly isDisabled: boolean;
  readonly isNameMissing: boolean;
  readonly children: ReactNode;
}

const ProfileFields = ({ value, change, isDisabled, isNameMissing, children }: ProfileFieldsProps) => (
  <>
    <Card title={own.details}>
      <fieldset disabled={isDisabled} className="flex flex-col gap-4">
        <TextField
          label={own.name}
          required
          error={isNameMissing ? own.nameMissing : undefined}
          value={value.Name}
          onChange={event => change({ Name: event.target.value })}
        />
        <Switch
          label={own.active}
          help={own.activeHelp}
          checked={value.Active}
          onChange={event => change({ Active: event.target.checked })}
        />
      </fieldset>
    </Card>
    <Card title={own.providerTitle}>
      <fieldset disabled={isDisabled} className="flex flex-col gap-4">
        <SelectField
          label={own.provider}
          value={value.ProviderName}
          onChange={event => change(chooseProvider(event.target.value as SignOnProvider))}
          options={Object.entries(own.providers).map(([id, label]) => ({ value: id, label }))}
        />
        <ProviderFields value={value} change={change} />
        {children}
      </fieldset>
    </Card>
  </>
);

/** Creates or replaces the profile. */
function useProfileSave(draft: ReturnType<typeof useDraft<ProfileBody>>, profileId: string | undefined) {
  const toasts = useToasts();
  const navigate = useNavigate();
  const creation = useWrite('POST /api/sso/profiles', refreshed);
  const update = useWrite('PUT /api/sso/profiles/{profileId}', refreshed);
  const body = draft.value;
  const save = (isForced: boolean) => {
    if (profileId === undefined)
      return creation.mutate(
        { given: { body } },
        {
          onSuccess: ({ value }) => {
            draft.accept();
            toasts.showSuccess(own.created(body.Name));
            void navigate({
              to: '/sign-on/$profileId',
              params: { profileId: String(value.Meta) },
              ignoreBlocker: true,
            });
          },
        },
      );
    update.mutate(
      { given: { params: { profileId }, body }, options: { ifMatch: isForced ? undefined : draft.etag } },
      {
        onSuccess: () => {
          draft.accept();
          toasts.showSuccess(own.saved(body.Name));
        },
      },
    );
  };
  const { error, isPending, reset } = profileId === undefined ? creation : update;
  return { save, error, isPending, reset };
}
