import { useSearch } from '@tanstack/react-router';
import { MailPlus } from 'lucide-react';
import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';

const own = adminTexts.invitations;
const reads = ['GET /portal-api/invitations'] as const;
type InvitationItem = ResultOf<'GET /portal-api/invitations'>[number];

const columns: readonly Column<InvitationItem>[] = [
  {
    id: 'email',
    title: own.columns.email,
    cell: ({ Email }) => <span className="font-medium break-all">{Email}</span>,
  },
  { id: 'role', title: own.columns.role, cell: ({ Role }) => adminTexts.users.roles[Role] ?? Role },
  {
    id: 'organisation',
    title: own.columns.organisation,
    cell: ({ OrganisationID: id }) => (id === 0 ? '–' : adminTexts.users.organisationOf(id)),
  },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ Status }) => (
      <StatusPill tone={Status === 'pending' ? 'warning' : 'neutral'}>{own.states[Status]}</StatusPill>
    ),
  },
  { id: 'expires', title: own.columns.expires, cell: ({ ExpiresAt }) => ExpiresAt },
];

export function InvitationListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/invitations' });
  const query = { page: p, per_page: adminPageRows };
  const list = useOperation('GET /portal-api/invitations', { query }, { keepPrevious: true });
  const resend = useWrite('PUT /portal-api/invitations/{invitation_id}/resend', reads);
  const cancel = useWrite('DELETE /portal-api/invitations/{invitation_id}', reads);
  const toasts = useToasts();
  const run = (write: typeof resend | typeof cancel, { ID }: InvitationItem, done: string) =>
    write.mutate(
      { given: { params: { invitation_id: String(ID) } } },
      { onSuccess: () => toasts.showSuccess(done), onError: error => toasts.showError(error.message) },
    );
  return (
    <PageFrame
      title={own.title}
      about={own.about}
      actions={<CreateLink to="/admin/invitations/new" label={own.create} />}
    >
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Email }) => Email}
        actions={invitation => [
          { label: own.resend, onSelect: () => run(resend, invitation, own.resent) },
          { label: own.cancel, onSelect: () => run(cancel, invitation, own.cancelled) },
        ]}
        empty={{ icon: MailPlus, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
