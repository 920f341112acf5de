import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { sitePages } from '#portal/site/pages/list.ts';
import type { TestApp } from '../support/app.ts';
import { checkPage, type PageList, walkTimeoutMs } from '../support/page-walk.ts';
import { addAccessRequest, addApi, addPlan, addProduct, requestPortal, toFileForm } from '../support/portal.ts';
import { addSiteDeveloper, type Developer, testPortalSite } from '../support/portal-site.ts';
import {
  accountSitePages,
  organisationSitePages,
  privateSitePages,
  publicSitePages,
  siteRoutesWithoutPage,
} from '../support/site-pages.ts';

const document = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  paths: {
    '/orders': {
      get: { operationId: 'listOrders', summary: 'Lists orders', responses: { 200: { description: 'all' } } },
      post: {
        operationId: 'addOrder',
        requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { id: {} } } } } },
        responses: { 201: { description: 'added' }, 400: { description: 'refused' } },
      },
    },
  },
};

/** Developers who have accepted the terms see the private pages. */
async function acceptTerms(app: TestApp, { ID, Email }: Developer): Promise<void> {
  const { terms } = app.application.installation.services.portal;
  const current = await terms.findCurrent();
  await terms.accept({ TermsID: current!.ID, UserID: ID, Email, Address: '127.0.0.1', AcceptedAt: 1 });
}

/** A product with documents, guide, changelog and plan; post, terms, menus and a directory to sign in with. */
async function createOffer(app: TestApp): Promise<Record<string, string>> {
  const ask = (path: string, body: object) => requestPortal(app, 'POST', `/portal-api${path}`, body, 201);
  const api = await addApi(app, 'orders');
  const Content = '# Orders\n\n| Field | Meaning |\n|---|---|\n| id | number |\n\n- [x] documented';
  const offered = { Catalogues: [1], Feature: true, Tags: ['shop'], Content };
  const product = await addProduct(app, { DisplayName: 'Orders', APIDetails: [{ APIID: api }], ...offered });
  const plan = await addPlan(app, { DisplayName: 'Instant', AutoApproveAccessRequests: true, Catalogues: [1] });
  const own = `/portal-api/products/${product.ID}`;
  await app.ask('POST', `${own}/api-details/${api}/oas`, { body: toFileForm(JSON.stringify(document)) });
  const { ID: spec } = await ask(`/products/${product.ID}/spec-details`, { SpecAlias: 'graph' });
  const schema = toFileForm('type Query { orders: [String!]! }', 'graph');
  await app.ask('PUT', `${own}/spec-details/${spec}/graphql/schema`, { body: schema });
  const guide = { Title: 'First call', Content: '<p>x</p>', Status: 'published', Path: 'first-call' };
  await ask(`/products/${product.ID}/docs`, guide);
  await ask(`/products/${product.ID}/changelog`, { Headline: 'Faster', Kind: 'changed', Text: 'Twice as fast' });
  const labels = { Status: 'published', Path: 'new-orders', Categories: ['Releases'] };
  const post = await ask('/posts', { Title: 'New orders', Lede: 'They are fast', Content: '<p>Yes</p>', ...labels });
  const Children = [{ Title: 'Releases', Path: '/blog/category/Releases' }];
  const Items = [{ Title: 'Blog', Path: '/blog', Children }];
  for (const Path of ['Primary', 'Footer']) await ask('/menus', { Name: Path, Path, Items });
  const profile = { ID: 'company', Name: 'Company', ActionType: 'GenerateOrLoginDeveloperProfile' };
  const directory = { ProviderName: 'ADProvider', ProviderConfig: { LDAPServer: 'ldap.example.org' } };
  await ask('/sso_profiles', { ...profile, ...directory });
  await ask('/terms', { Version: '2030-01', Content: '## Terms', Published: true });
  const blog = await (await fetch(`${app.url.portal}/blog`)).text();
  const [, year = '', month = '', day = ''] = /\/blog\/(\d+)\/(\d+)\/(\d+)\/new-orders/.exec(blog) ?? [];
  const paths = { guide: 'first-call', operation: 'listorders', version: '2030-01', year, month, day };
  return { ...paths, api, product: product.Path, plan: String(plan.ID), post: String(post.ID) };
}

describe('Routes of the portal site', () => {
  const site = testPortalSite({ settings: { 'portal.name': 'Acme APIs' } });
  let paths: Record<string, string>;
  const people: Record<string, Developer> = {};
  before(async () => {
    const app = site.app();
    paths = await createOffer(app);
    const { ID } = await requestPortal(app, 'POST', '/portal-api/organisations', { Name: 'Acme' });
    const add = async (name: string, more: object) => {
      people[name] = await addSiteDeveloper(app, { First: name, ...more });
    };
    await add('developer', { OrganisationID: ID, Role: 'consumer-team-member' });
    await add('organisation admin', { OrganisationID: ID, Role: 'consumer-admin' });
    await add('portal admin', { Role: 'provider-admin' });
    await add('newcomer', {});
    for (const name of ['developer', 'organisation admin']) await acceptTerms(app, people[name]!);
    const { app: owned } = await addAccessRequest(app, { app: { UserID: people.developer!.ID } });
    paths.app = String(owned.ID);
    paths.member = String(people.developer!.ID);
  });

  const resolve = (path: string) => path.replaceAll(/:(\w+)/g, (_whole, name: string) => paths[name] ?? '');
  const walks: Readonly<Record<string, readonly PageList[]>> = {
    'signed out': [publicSitePages, accountSitePages],
    developer: [publicSitePages, privateSitePages],
    'organisation admin': [privateSitePages, organisationSitePages],
    'portal admin': [publicSitePages, privateSitePages, { '/portal/private/posts/:post': /^New orders$/ }],
    newcomer: [{ '/portal/private/terms': /^New terms of use$/ }],
  };

  for (const [name, lists] of Object.entries(walks))
    test(`each page passes axe, keyboard and width checks, ${name}`, { timeout: walkTimeoutMs }, async () => {
      const person = people[name];
      const page = person ? await site.openAs(person, '/') : await site.open('/');
      const faults: string[] = [];
      for (const [path, heading] of lists.flatMap(it => Object.entries(it))) {
        await page.goto(site.app().url.portal + resolve(path));
        const headings = await page.locator('h1').allInnerTexts();
        if (headings.length !== 1 || !heading.test(headings[0]!)) faults.push(`${path} has the heading ${headings}`);
        faults.push(...(await checkPage(page, `${path}, ${name}`)));
      }
      assert.deepEqual(faults, []);
    });

  test('every route with a document is opened, so that a new one is checked from its first day', () => {
    const opened = Object.values(walks).flatMap(lists => lists.flatMap(Object.keys));
    const toPattern = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
    const missing = sitePages
      .filter(({ method, path }) => method === 'GET' && !siteRoutesWithoutPage.includes(path))
      .filter(({ path }) => !opened.some(it => toPattern(path).test(it.split('?')[0]!)));
    assert.deepEqual(missing, []);
  });
});
