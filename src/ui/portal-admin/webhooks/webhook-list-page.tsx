import { Link, useSearch } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';

const own = adminTexts.webhooks;

type WebhookItem = ResultOf<'GET /portal-api/webhooks'>[number];

const columns: readonly Column<WebhookItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: ({ ID, Name }) => (
      <Link to="/admin/webhooks/$webhookId" params={{ webhookId: String(ID) }} className="row-link">
        {Name}
      </Link>
    ),
  },
  { id: 'url', title: own.columns.url, cell: ({ URL: address }) => <span className="break-all">{address}</span> },
  { id: 'events', title: own.columns.events, cell: ({ Events }) => own.eventCount(Events.length) },
];

export function PortalWebhookListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/webhooks' });
  const query = { page: p, per_page: adminPageRows };
  const list = useOperation('GET /portal-api/webhooks', { query }, { keepPrevious: true });
  return (
    <PageFrame title={own.title} about={own.about} actions={<CreateLink to="/admin/webhooks/new" label={own.create} />}>
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Name }) => Name}
        empty={{ icon: Webhook, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
