import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { FailedPage } from '../kit/shell/fault-pages.tsx';
import { adminRootRoute, adminShellRoute, unknownAdminRoute } from './admin-root.tsx';
import { connectionRoutes } from './connection-routes.tsx';
import { contentRoutes } from './content-routes.tsx';
import { demandRoutes } from './demand-routes.tsx';
import { joiningRoutes } from './joining-routes.tsx';
import { offerRoutes } from './offer-routes.tsx';

/** Routes of the admin app of the portal. Each page is a chunk of its own. */

const routeTree = adminRootRoute.addChildren([
  adminShellRoute.addChildren([
    ...offerRoutes,
    ...demandRoutes,
    ...joiningRoutes,
    ...contentRoutes,
    ...connectionRoutes,
    unknownAdminRoute,
  ]),
]);

export const createAdminRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: FailedPage,
  });

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: ReturnType<typeof createAdminRouter>;
  }
}
