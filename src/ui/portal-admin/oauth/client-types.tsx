import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { ConfirmDialog, Dialog } from '../../kit/dialog.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';

const own = adminTexts.oauthProviders;
const refreshed = ['GET /portal-api/oauth-providers/{provider_id}'] as const;
type ClientType = ResultOf<'GET /portal-api/oauth-providers/{provider_id}'>['ClientTypes'][number];
type ClientTypeWrite = ArgumentsOf<'POST /portal-api/oauth-providers/{provider_id}/client-types'>['body'];

/** Client types of an OAuth provider: templates of the clients that developers get. */
export function ClientTypes({ providerId, types }: { providerId: string; types: readonly ClientType[] }) {
  const [isAdding, setAdding] = useState(false);
  const [pending, setPending] = useState<ClientType>();
  const remove = useWrite('DELETE /portal-api/oauth-providers/{provider_id}/client-types/{client_type_id}', refreshed);
  const toasts = useToasts();
  const confirm = () =>
    remove.mutate(
      { given: { params: { provider_id: providerId, client_type_id: String(pending?.ID) } } },
      { onError: error => toasts.showError(error.message), onSettled: () => setPending(undefined) },
    );
  return (
    <Card
      title={own.clientTypes}
      action={
        <Button icon={Plus} onClick={() => setAdding(true)}>
          {own.addClientType}
        </Button>
      }
    >
      {types.length === 0 && <p className="text-dim">{own.noClientTypes}</p>}
      <ul className="flex flex-col gap-1">
        {types.map(type => (
          <li key={type.ID} className="flex min-h-8 flex-wrap items-center gap-2">
            <span className="font-medium break-words">{type.Name}</span>
            <span className="text-dim">{type.GrantType.split(',').join(', ')}</span>
            <IconButton icon={Trash2} label={own.deleteClientType(type.Name)} onClick={() => setPending(type)} />
          </li>
        ))}
      </ul>
      {isAdding && <ClientTypeDialog providerId={providerId} onClose={() => setAdding(false)} />}
      <ConfirmDialog
        isOpen={pending !== undefined}
        tier={3}
        title={`${own.deleteClientType(pending?.Name ?? '')}?`}
        consequence={own.deleteClientTypeConsequence}
        action={own.deleteClientType(pending?.Name ?? '')}
        isBusy={remove.isPending}
        onConfirm={confirm}
        onClose={() => setPending(undefined)}
      />
    </Card>
  );
}

const methods = [
  { value: '', label: own.anyMethod },
  { value: 'client_secret_basic', label: 'client_secret_basic' },
  { value: 'client_secret_post', label: 'client_secret_post' },
];

function ClientTypeDialog({ providerId, onClose }: { providerId: string; onClose(): void }) {
  const [type, setType] = useState({
    Name: '',
    Description: '',
    GrantType: 'authorization_code',
    ResponseTypes: 'code',
    TokenEndpointAuthMethod: '',
  });
  const create = useWrite('POST /portal-api/oauth-providers/{provider_id}/client-types', refreshed);
  const bind = (name: keyof typeof type) => ({
    value: type[name],
    onChange: ({ target }: { target: { value: string } }) => setType({ ...type, [name]: target.value }),
  });
  return (
    <Dialog isOpen title={own.addClientType} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault();
          const given = { params: { provider_id: providerId }, body: type as ClientTypeWrite };
          create.mutate({ given }, { onSuccess: onClose });
        }}
      >
        <ErrorText error={create.error} />
        <TextField label={own.clientTypeName} required {...bind('Name')} />
        <TextField label={own.description} {...bind('Description')} />
        <TextField label={own.grants} help={own.grantsHelp} {...bind('GrantType')} />
        <TextField label={own.responses} help={own.responsesHelp} {...bind('ResponseTypes')} />
        <SelectField label={own.authMethod} options={methods} {...bind('TokenEndpointAuthMethod')} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={create.isPending}>
            {own.addClientType}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
