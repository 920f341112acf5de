import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { AccessChoices, toNumbers } from './access-choices.tsx';

const own = adminTexts.customCredentials;
type CustomCredentialBody = ArgumentsOf<'POST /portal-api/apps/{app_id}/custom_credentials'>['body'];

export const customCredentialReads = ['GET /portal-api/apps/{app_id}/custom_credentials'] as const;

type Kind = keyof typeof own.kinds;

interface CredentialDraft {
  readonly kind: Kind;
  readonly alias: string;
  /** The key to import, or that of another system. */
  readonly key: string;
  readonly secret: string;
  readonly products: readonly PickItem[];
  readonly plans: readonly PickItem[];
}

const emptyDraft: CredentialDraft = { kind: 'made', alias: '', key: '', secret: '', products: [], plans: [] };

/** Members of the other kinds are refused by the server: only those of the chosen one are sent. */
function toBody({ kind, alias, key, secret, products, plans }: CredentialDraft): CustomCredentialBody {
  if (kind === 'pair')
    return {
      Alias: alias,
      Type: 'CREDENTIAL_TYPE_CUSTOM',
      CredentialKey: key,
      ...(secret !== '' && { CredentialSecret: secret }),
    };
  const access = { PlanID: toNumbers(plans)[0] ?? 0, ProductIDs: toNumbers(products) };
  return {
    Alias: alias,
    Type: 'CREDENTIAL_TYPE_GW_MANAGED',
    ...access,
    ...(kind === 'imported' && { AuthTokenType: 'AUTH_TOKEN_TYPE_CUSTOM' as const, KeyID: key }),
  };
}

interface CustomCredentialDialogProps {
  readonly appId: number;
  onClose(): void;
}

/** Adds a credential to an app: a key that the provider makes or imports, or a pair of another system. */
export function CustomCredentialDialog({ appId, onClose }: CustomCredentialDialogProps) {
  const [draft, setDraft] = useState(emptyDraft);
  const create = useWrite('POST /portal-api/apps/{app_id}/custom_credentials', customCredentialReads);
  const toasts = useToasts();
  const change = (next: Partial<CredentialDraft>) => setDraft({ ...draft, ...next });
  const submit = () =>
    create.mutate(
      { given: { params: { app_id: String(appId) }, body: toBody(draft) } },
      {
        onSuccess: () => {
          toasts.showSuccess(own.added(draft.alias));
          onClose();
        },
      },
    );
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={own.add}
      about={own.addAbout}
      footer={
        <>
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button kind="primary" isBusy={create.isPending} onClick={submit}>
            {own.add}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorText error={create.error} />
        <CredentialFields draft={draft} onChange={change} />
      </div>
    </Dialog>
  );
}

interface CredentialFieldsProps {
  readonly draft: CredentialDraft;
  onChange(next: Partial<CredentialDraft>): void;
}

const CredentialFields = ({
  draft: { kind, alias, key, secret, products, plans },
  onChange,
}: CredentialFieldsProps) => (
  <>
    <TextField label={own.alias} required value={alias} onChange={event => onChange({ alias: event.target.value })} />
    <SelectField
      label={own.kind}
      value={kind}
      options={Object.entries(own.kinds).map(([value, label]) => ({ value, label }))}
      onChange={event => onChange({ kind: event.target.value as Kind })}
    />
    {kind !== 'made' && (
      <TextField
        label={own.key}
        help={kind === 'imported' ? own.importHelp : own.pairHelp}
        type="password"
        autoComplete="new-password"
        value={key}
        onChange={event => onChange({ key: event.target.value })}
      />
    )}
    {kind === 'pair' ? (
      <TextField
        label={own.secret}
        type="password"
        autoComplete="new-password"
        value={secret}
        onChange={event => onChange({ secret: event.target.value })}
      />
    ) : (
      <AccessChoices
        products={products}
        plans={plans}
        onProducts={chosen => onChange({ products: chosen })}
        onPlans={chosen => onChange({ plans: chosen })}
      />
    )}
  </>
);
