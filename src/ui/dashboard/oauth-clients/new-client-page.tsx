import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import { LinesField } from '../../kit/lines-field.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { toApiOutline } from '../apis/api-outline.ts';
import { ClientSecretDialog } from './client-secret-dialog.tsx';

const own = texts.oauthClients;
const emptyClient = {
  client_name: '',
  description: '',
  client_id: '',
  policy_id: '',
  redirects: [] as readonly string[],
};
type ApiQuery = ArgumentsOf<'GET /api/apis'>['query'];

export function NewClientPage() {
  const [apiId, setApiId] = useState('');
  const [client, setClient] = useState(emptyClient);
  const [isChecked, setChecked] = useState(false);
  const { mutate, data, error, isPending } = useWrite('POST /api/apis/oauth/{apiId}', ['GET /api/oauth/clients']);
  const change = (some: Partial<typeof emptyClient>) => setClient({ ...client, ...some });
  const textOf = (member: 'client_name' | 'description' | 'client_id') => ({
    value: client[member],
    onChange: (event: { target: { value: string } }) => change({ [member]: event.target.value }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (!apiId) return;
    const { redirects, ...rest } = client;
    const body = { ...rest, redirect_uri: redirects.join(',') };
    mutate({ given: { params: { apiId }, body }, options: { wait: 'applied' } });
  };
  return (
    <PageFrame title={own.newTitle} width="form">
      <form noValidate onSubmit={submit} className="flex max-w-[720px] flex-col gap-4">
        <ErrorText error={error} />
        <Card>
          <div className="flex flex-col gap-4">
            <ApiField value={apiId} onChange={setApiId} error={isChecked && !apiId ? own.apiMissing : undefined} />
            <TextField label={own.name} maxLength={200} {...textOf('client_name')} />
            <TextField label={own.description} maxLength={4000} {...textOf('description')} />
            <LinesField
              label={own.redirects}
              help={own.redirectsHelp}
              values={client.redirects}
              onChange={redirects => change({ redirects })}
            />
            <PolicyField value={client.policy_id} onChange={policy_id => change({ policy_id })} />
            <TextField label={own.clientId} help={own.clientIdHelp} isMono {...textOf('client_id')} />
          </div>
        </Card>
        <div className="flex justify-end gap-2">
          <Link to="/oauth-clients" className={buttonClass()}>
            {texts.kit.cancel}
          </Link>
          <Button kind="primary" type="submit" isBusy={isPending}>
            {own.createAction}
          </Button>
        </div>
      </form>
      {data && <CreatedDialog client={data.value} />}
    </PageFrame>
  );
}

interface CreatedProps {
  readonly client: { readonly api_id: string; readonly client_id: string; readonly secret: string };
}

/** The secret, then the page of the client. */
function CreatedDialog({ client }: CreatedProps) {
  const navigate = useNavigate();
  const params = { apiId: client.api_id, clientId: client.client_id };
  const open = () => void navigate({ to: '/oauth-clients/$apiId/$clientId', params });
  return <ClientSecretDialog title={own.doneTitle} client={client} onClose={open} />;
}

interface ChoiceProps {
  readonly value: string;
  onChange(value: string): void;
  readonly error?: string | undefined;
}

/** APIs that issue tokens by OAuth 2.0. */
function ApiField({ value, onChange, error }: ChoiceProps) {
  const query = { auth_type: 'oauth', sort: 'name', p: -1 } as ApiQuery;
  const { data, error: failure } = useOperation('GET /api/apis', { query });
  const apis = (data?.value.apis ?? []).map(toApiOutline);
  return (
    <SelectField
      label={own.api}
      help={own.apiHelp}
      required
      error={error ?? failure?.message}
      value={value}
      onChange={event => onChange(event.target.value)}
      options={[{ value: '', label: own.apiChoose }, ...apis.map(({ id, name }) => ({ value: id, label: name || id }))]}
    />
  );
}

function PolicyField({ value, onChange }: ChoiceProps) {
  const { data } = useOperation('GET /api/portal/policies/search', { query: { sort: 'name', p: -1 } });
  const policies = (data?.value.Data ?? []).map(({ id, _id, name }) => ({
    value: id || _id || '',
    label: name || id || '',
  }));
  return (
    <SelectField
      label={own.policy}
      help={own.policyHelp}
      value={value}
      onChange={event => onChange(event.target.value)}
      options={[{ value: '', label: own.policyNone }, ...policies]}
    />
  );
}
