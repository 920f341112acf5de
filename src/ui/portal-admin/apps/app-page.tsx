import { useNavigate, useParams } from '@tanstack/react-router';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { AppAccess } from './app-access.tsx';
import { CustomCredentials } from './custom-credentials.tsx';
import { OwnerCard } from './owner-card.tsx';

const own = adminTexts.apps;
type AppWrite = ArgumentsOf<'POST /portal-api/apps'>['body'];
type AppChange = ArgumentsOf<'PUT /portal-api/apps/{app_id}'>['body'];

const sections: readonly FormSection[] = [
  {
    title: own.details,
    fields: [
      { name: 'Name', label: own.columns.name, isRequired: true },
      { name: 'Description', label: own.description, kind: 'area' },
      {
        name: 'Visibility',
        label: own.columns.visibility,
        kind: 'select',
        options: Object.entries(own.visibilities).map(([value, label]) => ({ value, label })),
      },
      { name: 'RedirectURLs', label: own.redirects, help: own.redirectsHelp, isMono: true },
    ],
  },
];
const refreshed = ['GET /portal-api/apps', 'GET /portal-api/apps/{app_id}'] as const;

export function NewAppPage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/apps', refreshed);
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={{ Name: '', Description: '', UserID: '', Visibility: 'personal', RedirectURLs: '' }}
        sections={sections}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        renderMore={draft => <OwnerCard draft={draft} />}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({ given: { body: draft as AppWrite } });
          accept();
          await navigate({ to: '/admin/apps/$appId', params: { appId: String(value.ID) }, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

export function AppPage() {
  const { appId } = useParams({ from: '/shell/admin/apps/$appId' });
  const params = { app_id: appId };
  const read = useOperation('GET /portal-api/apps/{app_id}', { params });
  const save = useWrite('PUT /portal-api/apps/{app_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/apps/{app_id}', ['GET /portal-api/apps']);
  const toasts = useToasts();
  const app = read.data?.value;
  if (!app)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Name, Description, UserID, Visibility, RedirectURLs } = app;
  return (
    <PageFrame
      title={Name}
      actions={
        <DeleteButton
          label={adminTexts.forms.delete}
          action={own.deleteAction(Name)}
          name={Name}
          tier={4}
          consequence={own.deleteConsequence(app.AccessRequests.flat().length)}
          list="/admin/apps"
          done={own.deleted}
          remove={() => remove.mutateAsync({ given: { params } })}
        />
      }
    >
      <div className="flex flex-col gap-4">
        <RecordForm
          key={appId}
          stored={{ Name, Description, UserID, Visibility, RedirectURLs }}
          sections={sections}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          renderMore={draft => <OwnerCard draft={draft} />}
          onSave={async (_draft, changes, accept) => {
            await save.mutateAsync({ given: { params, body: changes as AppChange } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(Name));
          }}
        />
        <AppAccess app={app} />
        <CustomCredentials appId={app.ID} />
      </div>
    </PageFrame>
  );
}
