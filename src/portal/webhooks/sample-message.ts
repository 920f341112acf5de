import { formatIsoTime } from '#base/clock.ts';
import type { portalMessages } from './notify.ts';
import type { PortalEvent } from './schema.ts';

type Messages = { [Name in keyof typeof portalMessages]: ReturnType<(typeof portalMessages)[Name]> };

/** Message of an event as the portal sends it, about objects that do not exist. */
export function createSampleMessage(event: PortalEvent, nowMs: number): object {
  const samples = createSamples(formatIsoTime(nowMs));
  if (event.startsWith('OrganisationRequest')) return { ...samples.organisationRequest, Status: readStatus(event) };
  if (/^(AccessRequest|PlanChange)(Created|Requested|Approved|Rejected)$/.test(event))
    return { ...samples.accessRequest, Status: readStatus(event) };
  if (event === 'QuotaThreshold') return { ...samples.credential, ...samples.quota };
  if (event === 'ProviderDown') return { ...samples.provider, Reason: 'test' };
  if (event === 'SyncFinished') return { ...samples.provider, Products: 1, Plans: 1 };
  const subject = subjects.find(([prefix]) => event.startsWith(prefix));
  return subject ? samples[subject[1]] : samples.user;
}

/** Subjects of events by the beginning of their names; users have the others. */
const subjects = [
  ['Application', 'app'],
  ['Credential', 'credential'],
  ['Organisation', 'organisation'],
  ['Product', 'product'],
  ['Plan', 'plan'],
  ['Provider', 'provider'],
] as const;

const readStatus = (event: PortalEvent) =>
  event.endsWith('Approved') ? 'approved' : event.endsWith('Rejected') ? 'rejected' : 'pending';

function createSamples(CreatedAt: string) {
  const named = { ID: 1, Name: 'test', CreatedAt };
  const offered = { ...named, DisplayName: 'Test', ProviderID: 1, Status: 'published', UpdatedAt: CreatedAt };
  return {
    user: {
      ...{ ID: 1, Email: 'test@example.org', First: 'Test', Last: 'User', OrgID: 1, Provider: 'password' },
      ...{ Status: 'active', CreatedAt, ByUser: 0, CustomAttributes: [] },
    } satisfies Messages['user'],
    app: { ...named, UserID: 1 } satisfies Messages['app'],
    credential: { ID: 1, ByUser: 1, AccessRequestID: 1, AppID: 1, CreatedAt } satisfies Messages['credential'],
    quota: { Percent: 75, Used: 75, Quota: 100, RenewsAt: CreatedAt },
    organisation: named satisfies Messages['organisation'],
    organisationRequest: {
      ...{ Name: 'test', AdminEmail: 'test@example.org', AdminID: 1, ByUser: 1, TeamIDs: [] },
      ...{ Status: 'pending' as const, CreatedAt },
    } satisfies Messages['organisationRequest'],
    accessRequest: {
      ...{ ID: 1, AppID: 1, ByUser: 1, Status: 'pending' as const, ProductIDs: [1], PlanID: 1, CreatedAt },
    } satisfies Messages['accessRequest'],
    product: { ...offered, Path: 'test' } satisfies Messages['product'],
    plan: offered satisfies Messages['plan'],
    provider: named,
  };
}
