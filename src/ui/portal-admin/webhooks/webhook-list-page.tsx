import { Link } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';

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

export const PortalWebhookListPage = createListPage({
  texts: own,
  path: '/admin/webhooks',
  icon: Webhook,
  columns,
  useRows: query => useOperation('GET /portal-api/webhooks', { query }, { keepPrevious: true }),
  nameOf: ({ Name }) => Name,
});
