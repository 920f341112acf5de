import { readNextPath } from '#people/single-sign-on/next-path.ts';
import type { StoredTerms } from '../../terms/schema.ts';
import { findVisibleProduct } from '../../visibility/visibility.ts';
import { auditForm } from '../audit.ts';
import { findClosure } from '../closed-site.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { renderContent } from '../markdown.ts';
import { html } from '../markup.ts';
import type { SiteDocument, SitePage, SiteReply, SiteRequest, SiteServices, SiteVisitor } from '../page.ts';
import { formatDay } from '../words.ts';
import { readTermsField, renderTermsField, termsPath } from './terms-field.ts';

export const acceptTermsPath = '/portal/private/terms';

/** The version in force that a developer has not accepted; administrators of the portal make the terms. */
export async function findOpenTerms({ user, rights }: SiteVisitor, { portal }: SiteServices) {
  if (rights.kind !== 'developer') return undefined;
  const current = await portal.terms.findCurrent();
  return current && !(await portal.terms.hasAccepted(user!.ID, current.ID)) ? current : undefined;
}

/** Address of the page that asks for the acceptance of new terms before any private page; undefined without any. */
export async function findTermsGate(
  page: SitePage,
  url: string,
  visitor: SiteVisitor,
  services: SiteServices,
): Promise<string | undefined> {
  if (page.access !== 'user' || page.path === acceptTermsPath || !(await findOpenTerms(visitor, services)))
    return undefined;
  return `${acceptTermsPath}?next=${encodeURIComponent(page.method === 'GET' ? url : '/')}`;
}

/** Terms of a product are for those to whom it is visible. */
async function isTermsVisible({ ProductID = 0 }: StoredTerms, visitor: SiteVisitor, services: SiteServices) {
  if (ProductID === 0) return true;
  if (findClosure(visitor, services.settings)) return false;
  return (await findVisibleProduct(visitor.rights, ProductID, services)) !== undefined;
}

async function showTerms({ params, visitor }: SiteRequest, services: SiteServices): Promise<SiteDocument | undefined> {
  const { portal } = services;
  const version = params.version ?? (await portal.terms.findCurrent())?.Version;
  const terms = version === undefined ? undefined : await portal.terms.findVersion(version);
  if (!terms || terms.PublishedAt === 0 || !(await isTermsVisible(terms, visitor, services))) return undefined;
  return {
    title: 'Terms of use',
    main: html`<div class="head"><h1>Terms of use</h1>
<p class="dim">Version ${terms.Version}, since ${formatDay(terms.PublishedAt)}</p></div>
<div class="prose">${renderContent(terms.Content)}</div>`,
  };
}

async function ask(
  request: SiteRequest,
  services: SiteServices,
  errors = new Map<string, string>(),
): Promise<SiteReply> {
  const { visitor, query, form } = request;
  const next = readNextPath(query('next') || form('next'));
  const current = await findOpenTerms(visitor, services);
  const terms = current && (await services.portal.terms.get(current.ID));
  if (!current || !terms) return { redirect: next };
  const csrf = renderCsrfField(visitor.csrfToken);
  return {
    status: errors.size > 0 ? 422 : 200,
    json: toFormErrors(errors),
    title: 'Terms of use',
    section: 'profile',
    main: html`<div class="head"><h1>New terms of use</h1>
<p class="dim">Accept version ${terms.Version} to go on, or sign out.</p></div>
<div class="prose">${renderContent(terms.Content)}</div>
<form class="form broad" method="post" action="${acceptTermsPath}">${csrf}
<input type="hidden" name="next" value="${next}">
${renderTermsField(current, errors)}<button>Accept</button></form>
<form method="post" action="/auth/logout">${csrf}<button class="quiet">Sign out instead</button></form>`,
  };
}

async function accept(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { visitor, form, address } = request;
  const current = await findOpenTerms(visitor, services);
  const errors = new Map<string, string>();
  readTermsField(form, current, errors);
  if (errors.size > 0) return ask(request, services, errors);
  if (current) {
    const { ID: UserID, Email } = visitor.user!;
    const AcceptedAt = services.clock.now();
    await services.portal.terms.accept({ TermsID: current.ID, UserID, Email, Address: address, AcceptedAt });
    await auditForm('acceptTerms', request, visitor.user, 303, services, String(current.ID));
  }
  return { redirect: readNextPath(form('next')) };
}

export const termsPages: readonly SitePage[] = [
  { method: 'GET', path: termsPath, access: 'all', respond: showTerms },
  { method: 'GET', path: `${termsPath}/:version`, access: 'all', respond: showTerms },
  { method: 'GET', path: acceptTermsPath, access: 'user', respond: (request, services) => ask(request, services) },
  { method: 'POST', path: acceptTermsPath, access: 'user', respond: accept },
];
