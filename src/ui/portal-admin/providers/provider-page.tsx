import { useNavigate, useParams } from '@tanstack/react-router';
import { RefreshCw } from 'lucide-react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm, type RecordValue } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { ProviderDependents } from './provider-dependents.tsx';
import { ProviderStatePill } from './provider-list-page.tsx';
import { ProviderTestButton } from './provider-test-button.tsx';
import { SyncHistory } from './sync-history.tsx';
import { SyncPreviewButton } from './sync-preview-button.tsx';
import { useSynchronization } from './use-synchronization.ts';

const own = adminTexts.providers;
const refreshed = ['GET /portal-api/providers', 'GET /portal-api/providers/{provider_id}'] as const;
type PortalProvider = ResultOf<'GET /portal-api/providers/{provider_id}'>;

const createSections = (isNew: boolean): readonly FormSection[] => [
  {
    title: own.details,
    fields: [
      { name: 'Name', label: own.columns.name, isRequired: true },
      { name: 'URL', label: own.url, help: own.urlHelp },
      {
        name: 'Secret',
        label: own.secret,
        ...(isNew ? {} : { help: own.secretHelp }),
        kind: 'secret',
        isShown: ({ URL: address }) => address !== '',
      },
      { name: 'OrgID', label: own.organisation, help: own.organisationHelp, isMono: true, isReadOnly: !isNew },
      { name: 'Gateway', label: own.gateway, help: own.gatewayHelp },
      { name: 'PoliciesTags', label: own.tags, help: own.tagsHelp, kind: 'lines' },
      {
        name: 'InsecureSkipVerify',
        label: own.skipVerify,
        help: own.skipVerifyHelp,
        kind: 'switch',
        isShown: ({ URL: address }) => address !== '',
      },
    ],
  },
];

/** The wire has everything but the name in one JSON text. */
const toBody = ({ Name, ...metaData }: RecordValue) => ({
  Name: String(Name),
  Configuration: { MetaData: JSON.stringify(metaData) },
});
const toRecord = ({ Name, Configuration }: PortalProvider): RecordValue => ({
  ...(JSON.parse(Configuration.MetaData) as RecordValue),
  Name,
});

const newProvider = {
  Name: '',
  URL: '',
  Secret: '',
  OrgID: '',
  Gateway: '',
  PoliciesTags: [],
  InsecureSkipVerify: false,
};

export function NewProviderPage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/providers', refreshed);
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={newProvider}
        sections={createSections(true)}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({ given: { body: { ...toBody(draft), Type: 'gw-pro' } } });
          accept();
          const params = { providerId: String(value.ID) };
          await navigate({ to: '/admin/providers/$providerId', params, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

function ProviderActions({ providerId }: { readonly providerId: string }) {
  const { isBusy, synchronize } = useSynchronization();
  const start = () => synchronize(providerId);
  return (
    <>
      <ProviderTestButton providerId={providerId} />
      <SyncPreviewButton providerId={providerId} isBusy={isBusy} onSynchronize={start} />
      <Button icon={RefreshCw} isBusy={isBusy} onClick={start}>
        {own.synchronize}
      </Button>
    </>
  );
}

export function ProviderPage() {
  const { providerId } = useParams({ from: '/shell/admin/providers/$providerId' });
  const params = { provider_id: providerId };
  const read = useOperation('GET /portal-api/providers/{provider_id}', { params });
  const save = useWrite('PUT /portal-api/providers/{provider_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/providers/{provider_id}', ['GET /portal-api/providers']);
  const toasts = useToasts();
  const provider = read.data?.value;
  if (!provider)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Name } = provider;
  return (
    <PageFrame
      title={Name}
      width="form"
      status={<ProviderStatePill status={provider.Status} />}
      about={`${own.columns.synced}: ${provider.LastSyncedAt || own.never}`}
      actions={
        <>
          <DeleteButton
            label={adminTexts.forms.delete}
            action={own.deleteAction(Name)}
            name={Name}
            tier={4}
            consequence={<ProviderDependents providerId={providerId} />}
            list="/admin/providers"
            done={own.deleted}
            remove={() => remove.mutateAsync({ given: { params } })}
          />
          <ProviderActions providerId={providerId} />
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <RecordForm
          key={providerId}
          stored={toRecord(provider)}
          sections={createSections(false)}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          onSave={async (draft, _changes, accept) => {
            await save.mutateAsync({ given: { params, body: toBody(draft) } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(String(draft.Name)));
          }}
        />
        <SyncHistory providerId={providerId} />
      </div>
    </PageFrame>
  );
}
