import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import { insertApp } from '../../apps/changes.ts';
import type { StoredApp } from '../../apps/schema.ts';
import type { StoredCredential } from '../../credentials/schema.ts';
import { auditForm } from '../audit.ts';
import { renderFormError } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import {
  appsPath,
  cataloguePath,
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
} from '../page.ts';
import { readPage, renderPaging } from '../pages/catalogue.ts';
import { type KeyCalls, maxPageKeys, readKeyCalls, selectNewest } from '../usage/key-use.ts';
import { formatCalls, formatDay } from '../words.ts';
import { emptyApp, readAppFields, renderAppFields } from './app-form.ts';
import { credentialStates, getCredentialState, renderCredentialState } from './credential-state.ts';
import { listPageApps, maxUserApps } from './own-apps.ts';

const pageSize = 50;
const newAppPath = `${appsPath}/new`;
export const toAppUrl = ({ ID }: Pick<StoredApp, 'ID'>): string => `${appsPath}/${ID}`;

async function respondList(request: SiteRequest, services: SiteServices): Promise<SiteDocument> {
  const text = request.query('q').trim().slice(0, 100);
  const page = readPage(request.query);
  const apps = (await listPageApps(request.visitor, services)).filter(({ Name, Description }) =>
    `${Name}\n${Description}`.toLowerCase().includes(text.toLowerCase()),
  );
  const shown = apps.toReversed().slice((page - 1) * pageSize, page * pageSize);
  const requests = await services.portal.accessRequests.listOfApps(shown.map(({ ID }) => ID));
  const approved = new Map(requests.filter(({ Status }) => Status === 'approved').map(it => [it.ID, it]));
  const credentials = await services.portal.credentials.ofRequests([...approved.keys()]);
  const keys = credentials.map(credential => ({ credential, request: approved.get(credential.AccessRequestID)! }));
  const calls = await readKeyCalls(selectNewest(keys, maxPageKeys), 1, services);
  const listed = { requests, keys, calls, nowMs: services.clock.now() };
  const toUrl = (number: number) => `${appsPath}?${new URLSearchParams({ q: text, page: String(number) })}`;
  return {
    title: 'My apps',
    section: 'apps',
    main: html`<div class="head"><h1>My apps</h1><a class="button" href="${newAppPath}">New app</a></div>
<form class="inline" role="search" action="${appsPath}" method="get">
<input type="search" name="q" value="${text}" aria-label="Search apps" maxlength="100">
<button class="secondary">Search</button></form>
${shown.length > 0 ? html`<ul class="rows">${shown.map(app => renderApp(app, listed))}</ul>` : renderNone(text)}
${renderPaging(page, Math.ceil(apps.length / pageSize), toUrl)}`,
  };
}

interface ListedAccess {
  readonly requests: readonly StoredAccessRequest[];
  readonly keys: readonly { readonly credential: StoredCredential; readonly request: StoredAccessRequest }[];
  /** Of the last 24 hours, by credential. */
  readonly calls: ReadonlyMap<number, KeyCalls>;
  readonly nowMs: number;
}

/** Badge of the worst state among credentials, where it is not the usual one. */
function renderWorstState(credentials: readonly StoredCredential[], nowMs: number): Markup | '' {
  const states = credentials.map(it => getCredentialState(it, nowMs));
  const worst = credentialStates.find(it => states.includes(it));
  const place = worst && worst !== 'active' ? states.indexOf(worst) : -1;
  return place < 0 ? '' : renderCredentialState(credentials[place]!, nowMs);
}

function renderApp(app: StoredApp, { requests, keys, calls, nowMs }: ListedAccess): Markup {
  const own = requests.filter(({ AppID }) => AppID === app.ID);
  const credentials = keys.filter(({ request }) => request.AppID === app.ID).map(({ credential }) => credential);
  const called = credentials.reduce((sum, { ID }) => sum + (calls.get(ID)?.calls ?? 0), 0);
  const count = (status: string) => own.filter(({ Status }) => Status === status).length;
  const pending = count('pending');
  return html`<li><div><strong><a href="${toAppUrl(app)}">${app.Name}</a></strong>
<span class="badge">${app.Visibility}</span>
${pending > 0 ? html` <span class="badge warning">${pending} waiting</span>` : ''} ${renderWorstState(credentials, nowMs)}
<p class="dim">${app.Description}</p></div><div class="dim">${count('approved')} approved ·
${formatCalls(called)} in 24 hours · created
${formatDay(app.CreatedAt)}</div></li>`;
}

const renderNone = (text: string) =>
  text
    ? html`<div class="notice"><p>No app matches.</p><p><a href="${appsPath}">Clear the search</a></p></div>`
    : html`<div class="notice"><p>An app holds the keys of a program that calls APIs. You have none yet.</p>
<p><a class="button" href="${cataloguePath}">Choose a product</a></p></div>`;

function renderNew(request: SiteRequest, values: typeof emptyApp, errors: Map<string, string>): SiteDocument {
  const { csrfToken, user } = request.visitor;
  return {
    status: errors.size > 0 ? 422 : 200,
    json: toFormErrors(errors),
    title: 'Create an application',
    section: 'apps',
    main: html`<form class="form broad" method="post" action="${appsPath}"><h1>New app</h1>
${renderFormError(errors.get('') ?? '')}${renderCsrfField(csrfToken)}
${renderAppFields(values, user!.OrganisationID, errors)}<button>Create app</button>
<a class="button quiet" href="${appsPath}">Cancel</a></form>`,
  };
}

async function submitNew(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { form, visitor } = request;
  const user = visitor.user!;
  const errors = new Map<string, string>();
  const values = readAppFields(form, errors);
  if (errors.size > 0) return renderNew(request, values, errors);
  const app = await insertApp({ ...values, UserID: user.ID }, services, maxUserApps);
  if (!app) return renderNew(request, values, new Map([['', `You have ${maxUserApps} apps, the maximum.`]]));
  await auditForm('createOwnApp', request, user, 303, services, String(app.ID));
  return { redirect: toAppUrl(app) };
}

export const appListPages: readonly SitePage[] = [
  { method: 'GET', path: '/portal/private/dashboard', access: 'user', respond: async () => ({ redirect: appsPath }) },
  { method: 'GET', path: appsPath, access: 'user', respond: respondList },
  {
    method: 'GET',
    path: newAppPath,
    access: 'user',
    respond: async request => renderNew(request, emptyApp, new Map()),
  },
  { method: 'POST', path: appsPath, access: 'user', respond: submitNew },
];
