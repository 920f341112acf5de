import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import type { StoredApp } from '../../apps/schema.ts';
import { isHiddenAttribute } from '../../attributes/rules.ts';
import { neverExpires, type StoredCredential } from '../../credentials/schema.ts';
import { partnersOf } from '../../join-table-store.ts';
import { formatOptionalTime } from '../../shapes.ts';
import { findVisibleUsers } from '../../visibility/kinds.ts';
import { findPageApp, listPageApps } from '../apps/own-apps.ts';
import type { SiteFields, SitePage, SiteRequest, SiteServices } from '../page.ts';
import { listOwnSessions } from '../pages/own-sessions.ts';
import { findSearchResults } from '../pages/search.ts';
import { findUsage } from '../usage/usage-page.ts';
import { createJsonPage } from './json-page.ts';

/** Rows of a list. */
const maxRows = 1000;

const toApp = ({ ID, Name, Description, Visibility, UserID, CreatedAt }: StoredApp) => ({
  ...{ ID, Name, Description, Visibility, UserID },
  CreatedAt: formatOptionalTime(CreatedAt),
});

const toRequest = (it: StoredAccessRequest) => ({
  ...{
    ID: it.ID,
    AppID: it.AppID,
    Status: it.Status,
    Note: it.Note ?? '',
    Reason: it.Reason ?? '',
    Changes: it.Changes ?? 0,
  },
  ...{ PlanID: it.PlanID, Plan: it.Names.plan, ProductIDs: it.ProductIDs, Products: it.Names.products },
  CreatedAt: formatOptionalTime(it.CreatedAt),
  UpdatedAt: formatOptionalTime(it.UpdatedAt),
});

/** Without the key and the secret, which a page shows once. */
const toCredential = (it: StoredCredential, { AppID, PlanID, ProductIDs }: StoredAccessRequest) => ({
  ...{ ID: it.ID, AccessRequestID: it.AccessRequestID, AppID, PlanID, ProductIDs },
  Kind: it.Client ? 'oauth' : 'key',
  CredentialHash: it.CredentialHash,
  OAuthClientID: it.Client?.ClientID ?? '',
  Expires: it.Expires === 0 ? neverExpires : formatOptionalTime(it.Expires),
  FormerKeyUntil: it.Former ? formatOptionalTime(it.Former.Until || undefined) : '',
  CreatedAt: formatOptionalTime(it.CreatedAt),
});

/** Apps of a list: all of the visitor, or that of `app`; undefined where that one is not visible. */
async function listApps(query: SiteFields, { visitor }: SiteRequest, services: SiteServices) {
  const apps = (await listPageApps(visitor, services)).toReversed();
  const chosen = query('app') === '' ? apps : apps.filter(({ ID }) => String(ID) === query('app'));
  return query('app') !== '' && chosen.length === 0 ? undefined : chosen.slice(0, maxRows);
}

async function listRequests(request: SiteRequest, services: SiteServices) {
  const apps = await listApps(request.query, request, services);
  return apps && services.portal.accessRequests.listOfApps(apps.map(({ ID }) => ID));
}

async function readMe({ visitor }: SiteRequest, { portal }: SiteServices) {
  const { ID, Email, First, Last, Role, OrganisationID } = visitor.user!;
  const organisation = OrganisationID === 0 ? undefined : await portal.organisations.get(OrganisationID);
  return {
    ...{ ID, Email, First, Last, Role, OrganisationID },
    Organisation: organisation?.Name ?? '',
    UnreadNotifications: visitor.unread ?? 0,
    CSRFToken: visitor.csrfToken,
  };
}

async function readCredentials(request: SiteRequest, services: SiteServices) {
  const requests = await listRequests(request, services);
  if (!requests) return undefined;
  const requestOf = new Map(requests.map(it => [it.ID, it]));
  return (await services.portal.credentials.ofRequests([...requestOf.keys()]))
    .slice(-maxRows)
    .map(it => toCredential(it, requestOf.get(it.AccessRequestID)!));
}

async function readMembers({ visitor }: SiteRequest, services: SiteServices) {
  if (visitor.rights.kind !== 'developer') return [];
  return (await findVisibleUsers(visitor.rights, services))
    .slice(0, maxRows)
    .map(({ ID, Email, First, Last, Role, Active, CreatedAt }) => ({
      ...{ ID, Email, First, Last, Role, Active },
      CreatedAt: formatOptionalTime(CreatedAt),
    }));
}

async function readNotifications({ visitor }: SiteRequest, { portal }: SiteServices) {
  return (await portal.notifications.ofUser(visitor.user!.ID)).map(({ ID, Kind, Title, Path, IsRead, CreatedAt }) => ({
    ...{ ID, Kind, Title, Path, IsRead },
    CreatedAt: formatOptionalTime(CreatedAt),
  }));
}

/** Own data of the user: the account, own apps with their access, and records of its use; no key, secret or hash. */
async function readOwnData(request: SiteRequest, services: SiteServices) {
  const { visitor } = request;
  const { portal } = services;
  const user = visitor.user!;
  const { CSRFToken: _token, ...account } = await readMe(request, services);
  const teams = await portal.teams.byIds(partnersOf(await portal.teams.members.leftOf([user.ID]), user.ID));
  const attributes = (await portal.attributes.listValues(user.ID)).filter(it => !isHiddenAttribute(it.attribute));
  const apps = await portal.apps.ofUser(user.ID);
  const requests = await portal.accessRequests.listOfApps(apps.map(({ ID }) => ID));
  const requestOf = new Map(requests.map(it => [it.ID, it]));
  const credentials = await portal.credentials.ofRequests([...requestOf.keys()]);
  return {
    Account: { ...account, Provider: user.Provider, CreatedAt: formatOptionalTime(user.CreatedAt) },
    Teams: [...teams.values()].map(({ Name }) => Name),
    Attributes: Object.fromEntries(attributes.map(({ attribute, value }) => [attribute.Identifier, value])),
    Apps: apps.map(toApp),
    AccessRequests: requests.map(toRequest),
    Credentials: credentials.map(it => {
      const { CredentialHash: _hash, ...credential } = toCredential(it, requestOf.get(it.AccessRequestID)!);
      return credential;
    }),
    Sessions: (await listOwnSessions(request, services)).map(it => ({
      ...{ Address: it.address, UserAgent: it.userAgent, IsCurrent: it.id === visitor.sessionId },
      CreatedAt: formatOptionalTime(it.createdAtMs),
      SeenAt: formatOptionalTime(it.seenAtMs),
    })),
    Terms: (await portal.terms.acceptances.all({ user_id: user.ID })).map(({ TermsID, Address, AcceptedAt }) => ({
      ...{ TermsID, Address },
      AcceptedAt: formatOptionalTime(AcceptedAt),
    })),
    Notifications: await readNotifications(request, services),
  };
}

export const jsonPages: readonly SitePage[] = [
  createJsonPage('me', readMe),
  createJsonPage('apps', async (request, services) => (await listApps(request.query, request, services))?.map(toApp)),
  createJsonPage('apps/:id', async ({ params, visitor }, services) => {
    const found = await findPageApp(params.id!, visitor, services);
    return found && { ...toApp(found.app), CanEdit: found.canEdit };
  }),
  createJsonPage('requests', async (request, services) => (await listRequests(request, services))?.map(toRequest)),
  createJsonPage('credentials', readCredentials),
  createJsonPage('members', readMembers),
  createJsonPage('usage', findUsage),
  createJsonPage('notifications', readNotifications),
  createJsonPage('search', findSearchResults),
  createJsonPage('export', readOwnData),
];
