import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm } from '../forms/record-form.tsx';
import { useAdminSession } from '../session/admin-session.ts';
import { MailPreviewCard } from './mail-preview.tsx';

const own = adminTexts.mails;
const refreshed = ['GET /portal-api/mails', 'GET /portal-api/mails/{mail_name}'] as const;
type PortalMail = ResultOf<'GET /portal-api/mails/{mail_name}'>;
type MailChange = ArgumentsOf<'PUT /portal-api/mails/{mail_name}'>['body'];

const createSections = ({ Required, Variables }: PortalMail): readonly FormSection[] => [
  {
    title: own.details,
    fields: [
      { name: 'Enabled', label: own.enabledLabel, kind: 'switch', isReadOnly: Required },
      { name: 'Subject', label: own.subject, help: own.emptyHelp, isMono: true },
      {
        name: 'Text',
        label: own.text,
        help: `${own.emptyHelp} ${own.variables}: ${Variables.join(', ')}`,
        kind: 'area',
        rows: 10,
        isMono: true,
      },
      { name: 'Html', label: own.html, help: own.emptyHelp, kind: 'area', rows: 10, isMono: true },
    ],
  },
];

export function MailPage() {
  const { mailName } = useParams({ from: '/shell/admin/emails/$mailName' });
  const params = { mail_name: mailName };
  const read = useOperation('GET /portal-api/mails/{mail_name}', { params });
  const save = useWrite('PUT /portal-api/mails/{mail_name}', refreshed);
  const toasts = useToasts();
  const mail = read.data?.value;
  if (!mail)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Enabled, Subject, Text, Html } = mail;
  return (
    <PageFrame title={mailName} about={mail.Trigger} width="form" actions={<MailActions mailName={mailName} />}>
      <div className="flex flex-col gap-4">
        <RecordForm
          key={`${mailName} ${mail.UpdatedAt}`}
          stored={{ Enabled, Subject, Text, Html }}
          sections={createSections(mail)}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          renderMore={draft => <MailPreviewCard mailName={mailName} draft={draft} />}
          onSave={async (_draft, changes, accept) => {
            await save.mutateAsync({ given: { params, body: changes as MailChange } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(mailName));
          }}
        />
        <Card title={own.defaults}>
          <p className="mb-2 font-medium">{mail.Defaults.Subject}</p>
          <pre className="overflow-auto font-mono whitespace-pre-wrap">{mail.Defaults.Text}</pre>
        </Card>
      </div>
    </PageFrame>
  );
}

function MailActions({ mailName }: { mailName: string }) {
  const { Email: email } = useAdminSession();
  const [isRestoring, setRestoring] = useState(false);
  const test = useWrite('POST /portal-api/mails/{mail_name}/test', ['GET /portal-api/mail-outbox']);
  const restore = useWrite('DELETE /portal-api/mails/{mail_name}', refreshed);
  const toasts = useToasts();
  const params = { mail_name: mailName };
  const onError = (error: Error) => toasts.showError(error.message);
  return (
    <>
      <Button
        isBusy={test.isPending}
        onClick={() =>
          test.mutate(
            { given: { params, body: { To: email } } },
            { onSuccess: () => toasts.showSuccess(own.testSent(email)), onError },
          )
        }
      >
        {own.test}
      </Button>
      <Button onClick={() => setRestoring(true)}>{own.restore}</Button>
      <ConfirmDialog
        isOpen={isRestoring}
        tier={2}
        title={own.restoreTitle(mailName)}
        consequence={own.restoreConsequence}
        action={own.restore}
        isBusy={restore.isPending}
        onConfirm={() =>
          restore.mutate(
            { given: { params } },
            {
              onSuccess: () => toasts.showSuccess(own.restored),
              onError,
              onSettled: () => setRestoring(false),
            },
          )
        }
        onClose={() => setRestoring(false)}
      />
    </>
  );
}
