import { useNavigate, useParams } from '@tanstack/react-router';
import { PlugZap } from 'lucide-react';
import { Button } from '../../kit/button.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { ClientTypes } from './client-types.tsx';

const own = adminTexts.oauthProviders;
const refreshed = ['GET /portal-api/oauth-providers', 'GET /portal-api/oauth-providers/{provider_id}'] as const;
type ProviderWrite = ArgumentsOf<'POST /portal-api/oauth-providers'>['body'];
type ProviderChange = ArgumentsOf<'PUT /portal-api/oauth-providers/{provider_id}'>['body'];

const createSections = (isNew: boolean): readonly FormSection[] => [
  {
    title: own.details,
    fields: [
      { name: 'Name', label: own.columns.name, isRequired: true },
      {
        name: 'Type',
        label: own.type,
        kind: 'select',
        options: ['Keycloak', 'Gluu', 'Okta', 'Other'].map(value => ({ value, label: value })),
      },
      { name: 'WellKnownURL', label: own.wellKnown, isRequired: true },
      {
        name: 'RegistrationAccessToken',
        label: own.token,
        help: isNew ? own.newTokenHelp : own.tokenHelp,
        kind: 'secret',
      },
      { name: 'SSLInsecureSkipVerify', label: own.skipVerify, help: own.skipVerifyHelp, kind: 'switch' },
    ],
  },
];

const newOauthProvider = {
  Name: '',
  Type: 'Keycloak',
  WellKnownURL: '',
  RegistrationAccessToken: '',
  SSLInsecureSkipVerify: false,
};

export function NewOauthProviderPage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/oauth-providers', refreshed);
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={newOauthProvider}
        sections={createSections(true)}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({ given: { body: draft as ProviderWrite } });
          accept();
          const params = { providerId: String(value.ID) };
          await navigate({ to: '/admin/oauth2-0-providers/$providerId', params, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

/** Registers a client with the stored settings, and deletes it. */
function TestButton({ providerId }: { readonly providerId: string }) {
  const test = useWrite('POST /portal-api/oauth-providers/{provider_id}/ping');
  const toasts = useToasts();
  const send = () =>
    test.mutate(
      { given: { params: { provider_id: providerId } } },
      {
        onSuccess: ({ value }) => toasts.showSuccess(own.tested(value.Issuer)),
        onError: error => toasts.showError(error.message),
      },
    );
  return (
    <Button icon={PlugZap} isBusy={test.isPending} onClick={send}>
      {own.test}
    </Button>
  );
}

export function OauthProviderPage() {
  const { providerId } = useParams({ from: '/shell/admin/oauth2-0-providers/$providerId' });
  const params = { provider_id: providerId };
  const read = useOperation('GET /portal-api/oauth-providers/{provider_id}', { params });
  const save = useWrite('PUT /portal-api/oauth-providers/{provider_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/oauth-providers/{provider_id}', ['GET /portal-api/oauth-providers']);
  const toasts = useToasts();
  const provider = read.data?.value;
  if (!provider)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Name, Type, WellKnownURL, SSLInsecureSkipVerify } = provider;
  return (
    <PageFrame
      title={Name}
      width="form"
      actions={
        <>
          <DeleteButton
            label={adminTexts.forms.delete}
            action={own.deleteAction(Name)}
            name={Name}
            tier={4}
            consequence={own.deleteConsequence}
            list="/admin/oauth2-0-providers"
            done={own.deleted}
            remove={() => remove.mutateAsync({ given: { params } })}
          />
          <TestButton providerId={providerId} />
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ClientTypes providerId={providerId} types={provider.ClientTypes} />
        <RecordForm
          key={providerId}
          stored={{ Name, Type, WellKnownURL, SSLInsecureSkipVerify, RegistrationAccessToken: '' }}
          sections={createSections(false)}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          onSave={async (draft, changes, accept) => {
            await save.mutateAsync({ given: { params, body: changes as ProviderChange } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(String(draft.Name)));
          }}
        />
      </div>
    </PageFrame>
  );
}
