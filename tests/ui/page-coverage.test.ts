import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { dashboardPages, publicPages } from '../support/dashboard-pages.ts';
import { adminPages } from '../support/portal-admin-pages.ts';

const apps = {
  dashboard: [...Object.values(dashboardPages), publicPages],
  'portal-admin': Object.values(adminPages),
};

/** Paths of all routes of an app, as their files declare them. */
function listRoutes(app: string): readonly string[] {
  const directory = join(import.meta.dirname, '../../src/ui', app);
  return readdirSync(directory)
    .filter(file => /routes\.tsx$/.test(file))
    .flatMap(file => [...readFileSync(join(directory, file), 'utf8').matchAll(/^ {2}path: '([^']+)',$/gm)])
    .map(([, path]) => path!);
}

/** A parameter is any name that is no route of its own: `/keys/new` is not `/keys/$keyHash`. */
const matchesParameters = (route: string, path: string, routes: readonly string[]) =>
  route === path ||
  (!routes.includes(path) && new RegExp(`^${route.replaceAll(/\$\w+/g, '[^/]+')}$`).test(path) && route.includes('$'));

/** `/$` is the route of addresses that no other route has. */
const matches = (route: string, path: string, routes: readonly string[]) =>
  route === '/$'
    ? !routes.some(other => other !== route && matchesParameters(other, path, routes))
    : matchesParameters(route, path, routes);

describe('Walk through the pages of web apps', () => {
  for (const [app, lists] of Object.entries(apps))
    test(`every route of ${app} is opened, so that a new one is checked from its first day`, () => {
      const routes = listRoutes(app);
      assert.ok(routes.length > 40, `only ${routes.length} routes found`);
      const walked = lists.flatMap(pages => Object.keys(pages)).map(path => path.split('?')[0]!);
      assert.deepEqual(
        routes.filter(route => !walked.some(path => matches(route, path, routes))),
        [],
      );
    });
});
