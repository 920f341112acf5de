import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../kit/list-search.ts';
import { readTabSearch } from '../kit/tab-search.ts';
import { idParam } from './reserved-ids.ts';
import { shellRoute } from './root-routes.tsx';

/** Routes of webhooks and their deliveries. */

const webhooks = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  staticData: { permission: 'hooks' },
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./webhooks/hook-list-page.tsx'), 'HookListPage'),
});

const newWebhook = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/new',
  staticData: { permission: 'hooks:write' },
  component: lazyRouteComponent(() => import('./webhooks/new-hook-page.tsx'), 'NewHookPage'),
});

const readPage = readListSearch();
const readTab = readTabSearch('settings', 'deliveries', 'secret');

const webhook = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$hookId',
  params: idParam('hookId'),
  staticData: { permission: 'hooks' },
  validateSearch: (search: Record<string, unknown>): { readonly tab?: string; readonly p?: number } => {
    const { p } = readPage(search);
    return { ...readTab(search), ...(p ? { p } : {}) };
  },
  component: lazyRouteComponent(() => import('./webhooks/hook-page.tsx'), 'HookPage'),
});

const deliveries = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries',
  staticData: { permission: 'hooks' },
  validateSearch: readListSearch('hook_id', 'state', 'api_id', 'range', 'start', 'end'),
  component: lazyRouteComponent(() => import('./webhooks/delivery-list-page.tsx'), 'DeliveryListPage'),
});

export const eventRoutes = [webhooks, newWebhook, webhook, deliveries] as const;
