import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { EventChoice, portalEventNames } from './event-choice.tsx';
import { WebhookDeliveries } from './webhook-deliveries.tsx';
import { WebhookHeaders } from './webhook-headers.tsx';
import { WebhookSecret, WebhookSecretDialog } from './webhook-secret.tsx';
import { WebhookTest } from './webhook-test.tsx';

const own = adminTexts.webhooks;
const refreshed = ['GET /portal-api/webhooks', 'GET /portal-api/webhooks/{webhook_id}'] as const;
type WebhookWrite = ArgumentsOf<'POST /portal-api/webhooks'>['body'];
type WebhookChange = ArgumentsOf<'PUT /portal-api/webhooks/{webhook_id}'>['body'];

const sections: readonly FormSection[] = [
  {
    title: own.details,
    fields: [
      { name: 'Name', label: own.columns.name, isRequired: true },
      { name: 'URL', label: own.columns.url, isRequired: true },
      {
        name: 'Method',
        label: own.method,
        kind: 'select',
        options: ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'].map(value => ({ value, label: value })),
      },
      { name: 'Timeout', label: own.timeout, help: own.timeoutHelp, kind: 'number', unit: 's' },
    ],
  },
];

const newWebhook = { Name: '', URL: '', Method: 'POST', Timeout: 10, Events: [] };

export function NewPortalWebhookPage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/webhooks', refreshed);
  const [created, setCreated] = useState<ResultOf<'POST /portal-api/webhooks'>>();
  const open = (webhookId: string) =>
    void navigate({ to: '/admin/webhooks/$webhookId', params: { webhookId }, ignoreBlocker: true });
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={newWebhook}
        sections={sections}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        renderMore={draft => <EventChoice draft={draft} />}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({ given: { body: draft as WebhookWrite } });
          accept();
          setCreated(value);
        }}
      />
      {created && <WebhookSecretDialog secret={created.Secret} onClose={() => open(created.ID)} />}
    </PageFrame>
  );
}

export function PortalWebhookPage() {
  const { webhookId } = useParams({ from: '/shell/admin/webhooks/$webhookId' });
  const params = { webhook_id: webhookId };
  const read = useOperation('GET /portal-api/webhooks/{webhook_id}', { params });
  const save = useWrite('PUT /portal-api/webhooks/{webhook_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/webhooks/{webhook_id}', ['GET /portal-api/webhooks']);
  const toasts = useToasts();
  const hook = read.data?.value;
  if (!hook)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Name, URL: address, Method, Timeout, Events, Headers: headers } = hook;
  return (
    <PageFrame
      title={Name}
      width="form"
      actions={
        <>
          <WebhookTest key={webhookId} webhookId={webhookId} events={portalEventNames} />
          <DeleteButton
            label={adminTexts.forms.delete}
            action={own.deleteAction(Name)}
            name={Name}
            tier={3}
            consequence={own.deleteConsequence}
            list="/admin/webhooks"
            done={own.deleted}
            remove={() => remove.mutateAsync({ given: { params } })}
          />
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <WebhookHeaders webhookId={webhookId} headers={headers} />
        <RecordForm
          key={webhookId}
          stored={{ Name, URL: address, Method, Timeout, Events }}
          sections={sections}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          renderMore={draft => <EventChoice draft={draft} />}
          onSave={async (draft, changes, accept) => {
            await save.mutateAsync({ given: { params, body: changes as WebhookChange } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(String(draft.Name)));
          }}
        />
        <WebhookSecret hook={hook} />
        <WebhookDeliveries webhookId={webhookId} />
      </div>
    </PageFrame>
  );
}
