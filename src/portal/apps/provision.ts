import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import {
  completeApproval,
  type DecisionServices,
  guardApproval,
  lockVisiblePlan,
} from '../access-requests/decision.ts';
import { reportSubmitted } from '../access-requests/report-submitted.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import { ensureCertificate } from '../certificates/attachment.ts';
import type { ChosenCertificate } from '../certificates/schema.ts';
import { partnersOf } from '../join-table-store.ts';
import type { StoredPlan } from '../plans/schema.ts';
import { present, problem } from '../problems.ts';
import { isBoundToCertificate, isDocumentationOnly, type StoredProduct } from '../products/schema.ts';
import type { StoredProviderTask } from '../provider-tasks/schema.ts';
import { isProviderFailure } from '../providers/provider-client.ts';
import { type CertificateChoice, resolveCertificateChoice } from './certificate-choice.ts';
import { resolveClientChoice } from './client-choice.ts';
import type { Provision, StoredApp } from './schema.ts';

/** Auth methods without keys: basic auth and custom plugins. */
export const keylessAuthTypes = new Set(['ba', 'custom']);

/** Credential of a product: a client of OAuth where it has dynamic registration, else that of its APIs. */
export function getAccessType(product: Pick<StoredProduct, 'DCREnabled' | 'AuthType' | 'APIDetails'>): string {
  if (product.DCREnabled) return 'oauth';
  if (!isBoundToCertificate(product)) return product.AuthType;
  return product.APIDetails.every(({ CertificateUse }) => CertificateUse === 'alone') ? 'mutualTLS' : 'multiAuth';
}

/** Request of a developer on the site, not of an administrator. */
export interface OwnRequest {
  /** Runs first in the transaction of the request, and throws where there are too many. */
  readonly checkBounds: () => Promise<void>;
}

/**
 * Creates an access request; approves it at once if plan or body enable it. Where the provider refuses, the request of a
 * developer stays pending and administrators get a mail; that of an administrator is an error, and changes nothing.
 */
export async function provision(
  app: StoredApp,
  body: Omit<Provision, keyof CertificateChoice> & CertificateChoice,
  services: DecisionServices,
  own?: OwnRequest,
): Promise<number> {
  const { portal, clock } = services;
  const { plan, products } = await resolvePlanAndProducts(body, services);
  const catalogue = await resolveCatalogue(body, plan, products, services);
  const client = await resolveClientChoice(app, body, { plan, products }, services);
  const immediately = body.ProvisionImmediately ?? plan.AutoApproveAccessRequests;
  const now = clock.now();
  const wanted = {
    AppID: app.ID,
    UserID: app.UserID,
    PlanID: plan.ID,
    ProductIDs: products.map(({ ID }) => ID),
    CatalogueID: catalogue?.ID ?? 0,
    ProviderID: plan.ProviderID,
    AuthType: getAccessType(products[0]!),
    AuthTypes: products[0]!.AuthTypes,
    DCREnabled: products[0]!.DCREnabled,
    ...client,
    ProvisionImmediately: immediately,
    Note: body.Note ?? '',
    Status: 'pending' as const,
    Names: {
      app: app.Name,
      plan: plan.Name,
      catalogue: catalogue?.Name ?? '',
      products: products.map(({ Name }) => Name),
    },
    ClaimedAt: immediately ? now : 0,
    CreatedAt: now,
    UpdatedAt: now,
    DeletedAt: 0,
  };
  const { request, guard } = await services.records.write(async () => {
    await own?.checkBounds();
    const certificate = await resolveCertificateChoice(app, body, products, services);
    return submitRequest(app, plan, services, certificate, wanted);
  });
  if (!guard) return request.ID;
  try {
    await completeApproval(request, guard, services, { keepsRefused: Boolean(own) });
  } catch (error) {
    if (own && isProviderFailure(error)) return request.ID;
    // The response is an error: the request is removed and does not count against the quota.
    await portal.accessRequests.purge(request.ID);
    throw error;
  }
  return request.ID;
}

/** Resolves plan and products of a body, or throws every fault of the combination. */
export async function resolvePlanAndProducts(
  body: Pick<Provision, 'PlanID' | 'ProductIDs'>,
  { portal }: DecisionServices,
) {
  const plan = await portal.plans.get(body.PlanID);
  const ids = [...new Set(body.ProductIDs)];
  const productsById = await portal.products.byIds(ids);
  const faults: ValidationError[] = [];
  if (!plan || plan.Hidden) faults.push({ path: 'PlanID', message: `there is no plan ${body.PlanID}` });
  for (const [place, id] of ids.entries()) {
    const message = findProductFault(productsById.get(id), id, plan);
    if (message) faults.push({ path: `ProductIDs[${place}]`, message });
  }
  if (!plan || faults.length > 0) throw createInvalidProblem(faults);
  const products = ids.map(id => productsById.get(id)!);
  const authTypes = new Set(products.map(getAccessType));
  if (authTypes.size > 1)
    throw createInvalidProblem([
      { path: 'ProductIDs', message: `need different credential types: ${[...authTypes].join(', ')}` },
    ]);
  return { plan, products };
}

function findProductFault(
  product: StoredProduct | undefined,
  id: number,
  plan: StoredPlan | undefined,
): string | undefined {
  if (!product || product.Hidden) return `there is no product ${id}`;
  if (isDocumentationOnly(product)) return 'the product is documentation only';
  if (!product.DCREnabled && keylessAuthTypes.has(product.AuthType))
    return `no key can be made for the authentication ${product.AuthType}`;
  if (plan && product.ProviderID !== plan.ProviderID) return 'the product and the plan have different providers';
  return undefined;
}

/** Catalogue of a body, which must hold plan and products; without one, the first that does. */
export async function resolveCatalogue(
  body: Pick<Provision, 'Catalogue'>,
  plan: StoredPlan,
  products: readonly StoredProduct[],
  services: DecisionServices,
) {
  const { catalogues } = services.portal;
  const ids = products.map(({ ID }) => ID);
  const ofPlan = partnersOf(await catalogues.plans.leftOf([plan.ID]), plan.ID);
  const ofProducts = [...(await catalogues.products.leftOf(ids)).values()];
  const both = ofPlan.filter(id => ofProducts.every(catalogueIds => catalogueIds.includes(id)));
  if (body.Catalogue === undefined) return both[0] === undefined ? undefined : catalogues.get(both[0]);
  const [requested] = await catalogues.resolveReferences([body.Catalogue], 'Catalogue', 'catalogue');
  if (requested && both.includes(requested.ID)) return requested;
  throw createInvalidProblem([{ path: 'Catalogue', message: 'does not contain both the plan and the products' }]);
}

/**
 * Inside a transaction: inserts the request if the quota of the plan allows it. The plan row lock serialises concurrent
 * requests.
 */
async function submitRequest(
  app: StoredApp,
  plan: StoredPlan,
  services: DecisionServices,
  certificate: ChosenCertificate | undefined,
  request: Omit<StoredAccessRequest, 'ID'>,
): Promise<{ request: StoredAccessRequest; guard: StoredProviderTask | undefined }> {
  const { portal } = services;
  present(await portal.apps.change(app.ID, it => it), 'App', 'unknown');
  await checkPlanQuota(app.UserID, await lockVisiblePlan(plan.ID, services), services);
  const CertificateID = certificate && (await ensureCertificate(app.ID, certificate, services)).ID;
  const created = await portal.accessRequests.insert({ ...request, ...(CertificateID && { CertificateID }) });
  // With immediate approval the event is sent with the approval, which may fail.
  if (created.ProvisionImmediately) return { request: created, guard: await guardApproval(created, services) };
  await reportSubmitted(created, services);
  return { request: created, guard: undefined };
}

/**
 * Inside a transaction with the lock of the plan: refuses a request more than its quota for a user. `renewsAt` of the
 * problem is the time from which one is allowed again, 0 for never.
 */
export async function checkPlanQuota(
  userId: number,
  { ID, PlanQuota, PlanQuotaRenewalRate }: StoredPlan,
  { portal, clock }: DecisionServices,
): Promise<void> {
  if (PlanQuota === 0) return;
  const since = PlanQuotaRenewalRate > 0 ? clock.now() - PlanQuotaRenewalRate * 1000 : 0;
  const counted = await portal.accessRequests.countSince(userId, ID, since);
  if (counted < PlanQuota) return;
  const freed = await portal.accessRequests.getSince(userId, ID, since, counted - PlanQuota);
  const renewsAt = since > 0 && freed ? freed.CreatedAt + PlanQuotaRenewalRate * 1000 + 1 : 0;
  throw problem.quota_exceeded({ detail: { allowance: PlanQuota, renewsAt } });
}
