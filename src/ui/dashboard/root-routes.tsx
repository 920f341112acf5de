import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router';
import { NotFoundNotice } from '../kit/shell/fault-pages.tsx';
import { loadSession } from './session/session.ts';
import { Shell } from './shell/shell.tsx';

/** Routes above the pages: the root, and the shell of signed-in users. */

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Permission that the page needs, such as `apis` or `apis:write`. */
    readonly permission?: string;
  }
}

interface RouterContext {
  readonly queryClient: QueryClient;
}

export const rootRoute = createRootRouteWithContext<RouterContext>()({
  component: Outlet,
});

export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  async beforeLoad({ context, location }) {
    const session = await loadSession(context.queryClient);
    if (!session) throw redirect({ to: '/login', search: { next: location.href } });
  },
});

/** Every other address: the notice stands beside the navigation, and a user without a session signs in first. */
export const unknownRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/$',
  component: () => <NotFoundNotice home="/" />,
});
