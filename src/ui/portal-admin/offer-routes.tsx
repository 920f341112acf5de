import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../kit/list-search.ts';
import { readTabSearch } from '../kit/tab-search.ts';
import { adminShellRoute } from './admin-root.tsx';

/** Routes of what the portal offers: products, plans, catalogues. */

const products = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/api_products',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./products/product-list-page.tsx'), 'ProductListPage'),
});

const newProduct = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/api_products/new',
  component: lazyRouteComponent(() => import('./products/product-page.tsx'), 'NewProductPage'),
});

const product = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/api_products/$productId',
  validateSearch: readTabSearch('details', 'apis', 'documentation', 'changelog', 'registration'),
  component: lazyRouteComponent(() => import('./products/product-page.tsx'), 'ProductPage'),
});

const plans = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/plans',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./plans/plan-list-page.tsx'), 'PlanListPage'),
});

const newPlan = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/plans/new',
  component: lazyRouteComponent(() => import('./plans/plan-page.tsx'), 'NewPlanPage'),
});

const plan = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/plans/$planId',
  component: lazyRouteComponent(() => import('./plans/plan-page.tsx'), 'PlanPage'),
});

const catalogues = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/catalogues',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./catalogues/catalogue-list-page.tsx'), 'CatalogueListPage'),
});

const newCatalogue = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/catalogues/new',
  component: lazyRouteComponent(() => import('./catalogues/catalogue-page.tsx'), 'NewCataloguePage'),
});

const catalogue = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/catalogues/$catalogueId',
  component: lazyRouteComponent(() => import('./catalogues/catalogue-page.tsx'), 'CataloguePage'),
});

export const offerRoutes = [
  products,
  newProduct,
  product,
  plans,
  newPlan,
  plan,
  catalogues,
  newCatalogue,
  catalogue,
] as const;
