import { useState } from 'react';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { CopyButton } from '../../kit/copy.tsx';
import { LocalLinkNote } from '../../kit/local-link-note.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm } from '../forms/record-form.tsx';
import { TeamSelect } from './team-select.tsx';

const own = adminTexts.invitations;
type InvitationWrite = ArgumentsOf<'POST /portal-api/invitations'>['body'];
const roles = ['consumer-team-member', 'consumer-admin', 'provider-admin'];

const sections: readonly FormSection[] = [
  {
    title: own.details,
    fields: [
      { name: 'Email', label: own.columns.email, kind: 'mail', isRequired: true },
      { name: 'First', label: own.first },
      { name: 'Last', label: own.last },
      {
        name: 'Role',
        label: own.columns.role,
        kind: 'select',
        options: roles.map(value => ({ value, label: adminTexts.users.roles[value] ?? value })),
      },
    ],
  },
];
const newInvitation = { Email: '', First: '', Last: '', Role: roles[0], OrganisationID: '1', TeamID: '' };

export function NewInvitationPage() {
  const create = useWrite('POST /portal-api/invitations', ['GET /portal-api/invitations']);
  const toasts = useToasts();
  const [url, setUrl] = useState('');
  return (
    <PageFrame title={own.newTitle} width="form">
      <div className="flex flex-col gap-4">
        {url && <InviteLink url={url} />}
        <RecordForm
          key={url}
          isNew
          stored={newInvitation}
          sections={sections}
          action={own.create}
          isBusy={create.isPending}
          error={create.error}
          renderMore={draft => (draft.value.Role === 'provider-admin' ? null : <TeamSelect draft={draft} isOptional />)}
          onSave={async ({ OrganisationID, TeamID, ...person }, _changes, accept) => {
            const place =
              person.Role === 'provider-admin'
                ? {}
                : { OrganisationID: Number(OrganisationID), ...(TeamID ? { Teams: [Number(TeamID)] } : {}) };
            const { value } = await create.mutateAsync({ given: { body: { ...person, ...place } as InvitationWrite } });
            accept();
            setUrl(value.InviteURL);
            toasts.showSuccess(own.sent);
          }}
        />
      </div>
    </PageFrame>
  );
}

/** Link of an invitation, for an installation without a mail server. */
export const InviteLink = ({ url }: { url: string }) => (
  <Card title={own.link}>
    <p className="text-dim">{own.linkAbout}</p>
    <p className="flex items-center gap-2">
      <code className="font-mono text-small break-all">{url}</code>
      <CopyButton text={url} />
    </p>
    <LocalLinkNote link={url} setting="portal.url" />
  </Card>
);
