import type { KeyStore } from '#access/keys/store.ts';
import type { DecisionServices } from '#portal/access-requests/decision.ts';
import { createApp, deleteApp, provisionApp } from '#portal/apps/operations.ts';
import { createCatalogue, deleteCatalogue } from '#portal/catalogues/operations.ts';
import { partnersOf } from '#portal/join-table-store.ts';
import { createPlan, deletePlan } from '#portal/plans/operations.ts';
import type { PortalServices } from '#portal/portal-stores.ts';
import type { PostStore } from '#portal/posts/store.ts';
import { createProduct, deleteProduct } from '#portal/products/operations.ts';
import { deleteTag } from '#portal/tags/operations.ts';
import { createPortalUser, deletePortalUser } from '#portal/users/operations.ts';
import type { SignInProviderServices } from '#portal/users/sign-in-provider.ts';
import { apiIds } from './apis/demo-apis.ts';
import { callHandler } from './handlers.ts';
import { createPortalContent, removePortalContent } from './portal-content.ts';
import { demoProductTexts } from './portal-texts.ts';
import type { DemoPortal, DemoUser } from './state.ts';

/** Objects of the demo in the portal: products, plans, a catalogue, a developer with two apps. */

type Services = PortalServices & DecisionServices & SignInProviderServices & { keys: KeyStore; posts: PostStore };

const productTable = [
  {
    name: 'Order API',
    apis: [apiIds.orders],
    about: 'Read and create the orders of a shop.',
    content: demoProductTexts.orders,
  },
  {
    name: 'Payment API',
    apis: [apiIds.payments],
    about: 'Charge customers and refund them.',
    content: demoProductTexts.payments,
  },
  {
    name: 'Bookshop API',
    apis: [apiIds.bookshop],
    about: 'Ask for books and authors in one GraphQL query.',
    content: demoProductTexts.bookshop,
  },
];
const planTable = [
  {
    Name: 'Demo free plan',
    RateLimit: 5,
    Per: 10,
    Quota: 1000,
    QuotaRenewalRate: 86_400,
    AutoApproveAccessRequests: true,
  },
  { Name: 'Demo business plan', RateLimit: 100, Per: 10 },
];

async function createOffer(services: Services, providerId: number) {
  const products: { ID: number; ReferenceID: string }[] = [];
  for (const { name, apis, about, content } of productTable)
    products.push(
      await callHandler(createProduct, services, {
        body: {
          Name: name,
          DisplayName: name,
          Description: about,
          Content: content,
          Feature: true,
          ProviderID: providerId,
          APIDetails: apis.map(APIID => ({ APIID, Description: about })),
          Tags: ['demo'],
        },
      }),
    );
  const plans: { ID: number; ReferenceID: string }[] = [];
  for (const plan of planTable)
    plans.push(
      await callHandler(createPlan, services, { body: { ...plan, DisplayName: plan.Name, ProviderID: providerId } }),
    );
  return { products, plans };
}

export async function createPortalObjects(services: Services, { email, password }: DemoUser): Promise<DemoPortal> {
  const [provider] = await services.portal.providers.all();
  const { products, plans } = await createOffer(services, provider!.ID);
  const productIds = products.map(({ ID }) => ID);
  const [orders, payments, bookshop] = productIds as [number, number, number];
  const [free, business] = plans.map(({ ID }) => ID) as [number, number];
  const catalogue = await callHandler(createCatalogue, services, {
    body: { Name: 'Demo Catalogue', VisibilityStatus: 'Public', Products: productIds, Plans: [free, business] },
  });
  const developer = await callHandler(createPortalUser, services, {
    body: { Email: email, First: 'Dana', Last: 'Developer', Password: password },
  });
  const apps: number[] = [];
  for (const [Name, PlanID, product] of [
    ['Order widget', free, orders],
    ['Payment terminal', business, payments],
  ] as const) {
    const app = await callHandler(createApp, services, { body: { Name, UserID: developer.ID } });
    // The second request waits for approval.
    await callHandler(provisionApp, services, { params: { app_id: app.ID }, body: { PlanID, ProductIDs: [product] } });
    apps.push(app.ID);
  }
  return {
    catalogue: catalogue.ID,
    products: productIds,
    plans: [free, business],
    developer: developer.ID,
    apps,
    policyIds: [...products, ...plans].map(({ ReferenceID }) => ReferenceID),
    content: await createPortalContent({ orders, payments, bookshop }, services),
  };
}

/** Hashes of the keys of the apps. */
export async function listAppKeys({ portal, keys }: Services, { apps }: DemoPortal): Promise<string[]> {
  const requests = [];
  for (const app_id of apps) requests.push(...(await portal.accessRequests.listLive({ app_id })));
  const credentials = await portal.credentials.ofRequests(requests.map(({ ID }) => ID));
  return credentials.map(({ Credential }) => keys.hashOf(Credential));
}

/** Objects in the portal that depend on those of the demo and are not part of it. */
export async function listPortalDependents({ portal }: Services, demo: DemoPortal): Promise<string[]> {
  const apps = (await portal.apps.all()).filter(
    ({ ID, UserID }) => UserID === demo.developer && !demo.apps.includes(ID),
  );
  const requests = (await portal.accessRequests.listLive({})).filter(
    ({ AppID, PlanID, ProductIDs }) =>
      !demo.apps.includes(AppID) &&
      (demo.plans.includes(PlanID) || ProductIDs.some(product => demo.products.includes(product))),
  );
  return [
    ...apps.map(({ Name }) => `app ${Name} of the developer`),
    ...requests.map(({ ID, Names }) => `access request ${ID} of the app ${Names.app}`),
  ];
}

async function removeUnusedTag(services: Services, tag_id: number): Promise<void> {
  const { portal, posts } = services;
  const uses = [await portal.productTags.rightOf([tag_id]), await posts.tagged.rightOf([tag_id])];
  if (uses.every(ids => partnersOf(ids, tag_id).length === 0))
    await callHandler(deleteTag, services, { params: { tag_id } });
}

/** Deletes what is still there. */
export async function removePortalObjects(services: Services, demo: DemoPortal): Promise<void> {
  const { portal } = services;
  await removePortalContent(demo.content, services);
  for (const app_id of demo.apps) {
    const requests = await portal.accessRequests.listLive({ app_id });
    if (await portal.apps.get(app_id)) await callHandler(deleteApp, services, { params: { app_id } });
    for (const { ID } of requests) await portal.accessRequests.purge(ID);
  }
  if (await portal.catalogues.get(demo.catalogue))
    await callHandler(deleteCatalogue, services, { params: { catalogue_id: demo.catalogue } });
  for (const plan_id of demo.plans)
    if (await portal.plans.get(plan_id)) await callHandler(deletePlan, services, { params: { plan_id } });
  const tags = [...(await portal.productTags.leftOf(demo.products)).values()].flat();
  for (const product_id of demo.products)
    if (await portal.products.get(product_id)) await callHandler(deleteProduct, services, { params: { product_id } });
  for (const tag of new Set(tags)) await removeUnusedTag(services, tag);
  if (await portal.users.get(demo.developer))
    await callHandler(deletePortalUser, services, { params: { user_id: demo.developer } });
}
