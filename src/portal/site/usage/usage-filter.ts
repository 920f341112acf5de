import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import type { StoredApp } from '../../apps/schema.ts';
import { listKeyHashes, type StoredCredential } from '../../credentials/schema.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { listPageApps, readObjectId } from '../apps/own-apps.ts';
import type { SiteFields, SiteRequest, SiteServices } from '../page.ts';
import { displayName } from '../words.ts';
import { type AppUsageSelection, maxReportKeys } from './app-usage.ts';

export const usageRanges = [7, 30, 90] as const;
/** Products and keys offered for a choice, those of the newest requests. */
const maxChoices = 100;

/** Calls that the fields of a query select, and the objects they name. */
export interface UsageFilter {
  readonly selection: AppUsageSelection;
  /** All apps of the visitor. */
  readonly apps: readonly StoredApp[];
  /** Requests of all apps, oldest first, deleted ones included. */
  readonly requests: readonly StoredAccessRequest[];
  /** Requests whose calls are counted. */
  readonly chosen: readonly StoredAccessRequest[];
  readonly product: StoredProduct | undefined;
  readonly credential: StoredCredential | undefined;
}

/** `4xx` or `404`; undefined for any other text. */
function readStatuses(text: string): readonly [number, number] | undefined {
  if (/^[1-5]xx$/.test(text)) return [Number(text[0]) * 100, Number(text[0]) * 100 + 99];
  return /^[1-5]\d\d$/.test(text) ? [Number(text), Number(text)] : undefined;
}

/** Filter of a query; undefined where it names what is not visible to the visitor, or no status. */
export async function findUsageFilter(
  { query, visitor }: Pick<SiteRequest, 'query' | 'visitor'>,
  services: SiteServices,
): Promise<UsageFilter | undefined> {
  const { portal } = services;
  const apps = await listPageApps(visitor, services);
  const requests = await portal.accessRequests.listOfApps(
    apps.map(({ ID }) => ID),
    { withDeleted: true },
  );
  const app = apps.find(({ ID }) => String(ID) === query('app'));
  const product = query('product') ? await findProduct(query, requests, services) : undefined;
  const credential = query('credential') ? await findCredential(query, requests, services) : undefined;
  const statuses = readStatuses(query('status'));
  const found = { app, product, credential, status: statuses };
  if (Object.entries(found).some(([name, value]) => query(name) !== '' && value === undefined)) return undefined;
  const chosen = requests
    .filter(it => !app || it.AppID === app.ID)
    .filter(it => !product || it.ProductIDs.includes(product.ID))
    .filter(it => !credential || it.ID === credential.AccessRequestID)
    .slice(-maxReportKeys);
  const selection = {
    keys: await listKeys(chosen, credential, services),
    apiIds: product?.APIDetails.map(({ APIID }) => APIID),
    statuses,
    days: usageRanges.find(it => String(it) === query('days')) ?? usageRanges[0],
  };
  return { selection, apps, requests, chosen, product, credential };
}

/** Product of the query that a request of the visitor has. */
async function findProduct(query: SiteFields, requests: readonly StoredAccessRequest[], { portal }: SiteServices) {
  const id = readObjectId(query('product'));
  return requests.some(it => it.ProductIDs.includes(id)) ? (await portal.products.byIds([id])).get(id) : undefined;
}

/** Credential of the query that a request of the visitor has. */
async function findCredential(query: SiteFields, requests: readonly StoredAccessRequest[], { portal }: SiteServices) {
  const found = await portal.credentials.get(readObjectId(query('credential')));
  return found && requests.some(({ ID }) => ID === found.AccessRequestID) ? found : undefined;
}

/** Hashes of the keys of requests, rotated and revoked ones too, or those of one credential. */
async function listKeys(
  requests: readonly StoredAccessRequest[],
  credential: StoredCredential | undefined,
  { portal }: SiteServices,
): Promise<AppUsageSelection['keys']> {
  const credentials = credential ? [credential] : await portal.credentials.ofRequests(requests.map(({ ID }) => ID));
  const byRequest = Map.groupBy(credentials, it => it.AccessRequestID);
  return requests.map(({ ID, ProviderID, RevokedHashes = [] }) => ({
    providerId: ProviderID,
    hashes: [...(credential ? [] : RevokedHashes), ...(byRequest.get(ID) ?? []).flatMap(listKeyHashes)],
  }));
}

/** A key in words: its app, its products, and the end of its hash, which tells keys of the same products apart. */
export const describeUsageKey = ({ Names }: StoredAccessRequest, { CredentialHash }: StoredCredential): string =>
  `${Names.app}: ${Names.products.join(', ')} (…${CredentialHash.slice(-6)})`;

export interface UsageChoice {
  readonly value: number;
  readonly text: string;
}

/** Products and keys of a choice, newest first; that of the filter is one of them. */
export async function listUsageChoices(
  { requests, product, credential }: UsageFilter,
  { portal }: SiteServices,
): Promise<{ readonly products: readonly UsageChoice[]; readonly credentials: readonly UsageChoice[] }> {
  const newest = requests.toReversed();
  const ids = new Set([...(product ? [product.ID] : []), ...newest.flatMap(it => it.ProductIDs)]);
  const products = await portal.products.byIds([...ids].slice(0, maxChoices));
  const live = newest.slice(0, maxChoices);
  const listed = (await portal.credentials.ofRequests(live.map(({ ID }) => ID))).toReversed();
  const isListed = listed.some(({ ID }) => ID === credential?.ID);
  const all = credential && !isListed ? [credential, ...listed] : listed;
  const requestOf = new Map(requests.map(it => [it.ID, it]));
  return {
    products: [...products.values()].map(it => ({ value: it.ID, text: displayName(it) })),
    credentials: all
      .filter(it => it.CredentialHash !== '')
      .map(it => ({ value: it.ID, text: describeUsageKey(requestOf.get(it.AccessRequestID)!, it) })),
  };
}
