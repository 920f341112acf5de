import { Link } from '@tanstack/react-router';
import { Inbox, Mail } from 'lucide-react';
import { StatusPill } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList } from '../lists/admin-list.tsx';

const own = adminTexts.mails;

type MailItem = ResultOf<'GET /portal-api/mails'>[number];

const columns: readonly Column<MailItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: ({ Name, Trigger }) => (
      <>
        <Link to="/admin/emails/$mailName" params={{ mailName: Name }} className="row-link">
          {Trigger}
        </Link>
        <code className="block text-small text-dim">{Name}</code>
      </>
    ),
  },
  { id: 'recipient', title: own.columns.recipient, cell: ({ Recipient }) => own.recipients[Recipient] },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ Enabled, Required }) => (
      <StatusPill tone={Enabled ? 'success' : 'neutral'}>
        {Required ? own.required : Enabled ? own.enabled : own.disabled}
      </StatusPill>
    ),
  },
  { id: 'sent', title: own.columns.sent, align: 'right', cell: ({ Sent }) => formatNumber(Sent) },
  { id: 'failed', title: own.columns.failed, align: 'right', cell: ({ Failed }) => formatNumber(Failed) },
  { id: 'last', title: own.columns.last, cell: ({ LastSentAt }) => LastSentAt || '–' },
];

export function MailListPage() {
  const list = useOperation('GET /portal-api/mails', {});
  return (
    <PageFrame
      title={own.title}
      about={own.about}
      actions={
        <Link to="/admin/emails/outbox" className={buttonClass()}>
          <Inbox size={16} aria-hidden />
          {own.outbox}
        </Link>
      }
    >
      <AdminList
        label={own.title}
        query={list}
        page={1}
        columns={columns}
        idOf={({ Name }) => Name}
        nameOf={({ Trigger }) => Trigger}
        empty={{ icon: Mail, title: own.title, about: own.about }}
      />
    </PageFrame>
  );
}
