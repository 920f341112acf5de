import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, Outlet } from '@tanstack/react-router';
import { NotFoundNotice } from '../kit/shell/fault-pages.tsx';
import { loadAdminSession, toSignInAddress } from './session/admin-session.ts';
import { AdminShell } from './shell/admin-shell.tsx';

/** Routes above the pages: the root, and the shell of administrators. */

interface RouterContext {
  readonly queryClient: QueryClient;
}

export const adminRootRoute = createRootRouteWithContext<RouterContext>()({
  component: Outlet,
});

export const adminShellRoute = createRoute({
  getParentRoute: () => adminRootRoute,
  id: 'shell',
  component: AdminShell,
  async beforeLoad({ context, location: { href } }) {
    if (await loadAdminSession(context.queryClient)) return;
    // The sign-in page is a document of the site, outside of this app: the route waits for it.
    location.assign(toSignInAddress(href));
    await new Promise<never>(() => undefined);
  },
});

/** Every other address: the notice stands beside the navigation. */
export const unknownAdminRoute = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/$',
  component: () => <NotFoundNotice home="/admin" />,
});
