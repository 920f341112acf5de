import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from './root-routes.tsx';

/** Routes of the introduction, of monitoring of the installation, and of the library. */

const readStep = (search: Record<string, unknown>) => (typeof search.api === 'string' ? { api: search.api } : {});

const welcome = createRoute({
  getParentRoute: () => shellRoute,
  path: '/welcome',
  staticData: { permission: 'apis:write' },
  validateSearch: readStep,
  component: lazyRouteComponent(() => import('./welcome/welcome-page.tsx'), 'WelcomePage'),
});

export const systemRoutes = [welcome] as const;
