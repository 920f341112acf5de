import { formatPortalTime } from '#base/clock.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { StoredCredential } from '../credentials/schema.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl } from '../portal-url.ts';
import { formatQuota, formatRate } from '../site/words.ts';

export type AccessMailServices = Pick<PortalServices, 'portal' | 'settings'>;

/** Limits in the words of the site, inside a sentence. */
const toPlanFacts = (plan: StoredPlan) => ({
  name: plan.DisplayName || plan.Name,
  rate: formatRate(plan).toLowerCase(),
  quota: formatQuota(plan).toLowerCase(),
});

/** Names of products as developers see them. */
async function nameProducts(request: StoredAccessRequest, { portal }: AccessMailServices) {
  const products = await portal.products.byIds(request.ProductIDs);
  const names = request.ProductIDs.map((id, place) => {
    const product = products.get(id);
    return product?.DisplayName || product?.Name || request.Names.products[place] || String(id);
  });
  return { names: names.join(', '), path: products.get(request.ProductIDs[0] ?? 0)?.Path ?? '' };
}

/** Plan that the developer asked for, where the approver granted another; empty otherwise. */
const nameRequestedPlan = async ({ Requested }: StoredAccessRequest, { portal }: AccessMailServices) =>
  Requested ? (await portal.plans.get(Requested.PlanID))?.DisplayName || Requested.plan : '';

const toAppUrl = (appId: number, { settings }: AccessMailServices) =>
  `${readPortalUrl(settings)}/portal/private/apps/${appId}`;

/** Mail to the administrators about a request that waits. */
export async function mailSubmitted(request: StoredAccessRequest, services: AccessMailServices): Promise<void> {
  const { portal, settings } = services;
  if (!portal.sendMail.isConfigured) return;
  const user = await portal.users.get(request.UserID);
  if (!user) return;
  const organisation = (await portal.organisations.get(user.OrganisationID))?.Name ?? '';
  const { names } = await nameProducts(request, services);
  const { app, plan } = request.Names;
  // One line: the note of a developer adds no paragraphs or buttons to the mail.
  const note = (request.Note ?? '').replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  await portal.sendMail.sendToAdministrators('submitted', user, {
    requests: [{ id: request.ID, app, products: names, plan, note, developer: user.Email, organisation }],
    admin_url: `${readPortalUrl(settings)}/admin/access_requests/${request.ID}`,
  });
}

/** Mail to the owner of the app about an approval. It never has the key. */
export async function mailApproved(request: StoredAccessRequest, services: AccessMailServices): Promise<void> {
  const { portal, settings } = services;
  const user = await portal.users.get(request.UserID);
  const plan = await portal.plans.get(request.PlanID);
  if (!user || !plan) return;
  const { names, path } = await nameProducts(request, services);
  await portal.sendMail.send('approve', user, {
    app: request.Names.app,
    products: names,
    plan: toPlanFacts(plan),
    requested_plan: await nameRequestedPlan(request, services),
    app_url: toAppUrl(request.AppID, services),
    docs_url: `${readPortalUrl(settings)}/portal/catalogue-products/${path}`,
  });
}

export async function mailRejected(
  request: StoredAccessRequest,
  reason: string,
  services: AccessMailServices,
): Promise<void> {
  const { portal } = services;
  const user = await portal.users.get(request.UserID);
  if (!user) return;
  const { names } = await nameProducts(request, services);
  const { app, plan } = request.Names;
  const retry_url = toAppUrl(request.AppID, services);
  await portal.sendMail.send('reject', user, { app, products: names, plan, reason, retry_url });
}

/** Mail to the owner of an app whose request has another plan or other products now. */
export async function mailPlanChanged(
  request: StoredAccessRequest,
  before: StoredAccessRequest,
  services: AccessMailServices,
): Promise<void> {
  const { portal } = services;
  const user = await portal.users.get(request.UserID);
  const plan = user && (await portal.plans.get(request.PlanID));
  if (!user || !plan) return;
  const { names } = await nameProducts(request, services);
  const former = await portal.plans.get(before.PlanID);
  await portal.sendMail.send('planchanged', user, {
    app: request.Names.app,
    products: names,
    old_plan: former?.DisplayName || before.Names.plan,
    plan: toPlanFacts(plan),
    requested_plan: await nameRequestedPlan(request, services),
    app_url: toAppUrl(request.AppID, services),
  });
}

/** Mail to the owner of an app about its credential. */
export async function mailCredentialChange(
  change: 'rotated' | 'revoked',
  { CredentialHash: hash }: Pick<StoredCredential, 'CredentialHash'>,
  appId: number,
  services: AccessMailServices,
  oldValidUntilMs = 0,
): Promise<void> {
  const { portal } = services;
  const app = await portal.apps.get(appId);
  const user = app && (await portal.users.get(app.UserID));
  if (!user) return;
  const facts = { app: app.Name, credential: { alias: app.Name, hash }, app_url: toAppUrl(appId, services) };
  if (change === 'revoked') return portal.sendMail.send('revoked', user, { ...facts, reason: '' });
  const old_valid_until = oldValidUntilMs === 0 ? '' : formatPortalTime(oldValidUntilMs);
  await portal.sendMail.send('rotated', user, { ...facts, old_valid_until });
}
