import type { Clock } from '#base/clock.ts';
import { createSortableId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import type { UserStore } from '#people/users/store.ts';
import { wholeList } from '#storage/collection.ts';
import type { Meta } from '#storage/meta.ts';
import type { Records } from '#storage/records.ts';
import { defaultOrganisationName } from './organisations/schema.ts';
import type { PortalStores } from './portal-stores.ts';
import { providerType } from './providers/schema.ts';
import { toSlug } from './shapes.ts';

export interface PortalBootstrapServices {
  records: Records;
  meta: Meta;
  portal: PortalStores;
  users: UserStore;
  defaultOrgId: () => Promise<string>;
  clock: Clock;
  settings: Settings;
}

const bootstrappedName = 'portal_bootstrap';
export const localProviderName = 'Gatewright';

const firstCatalogues = [
  ['Public Catalogue', 'Public'],
  ['Private Catalogue', 'Private'],
] as const;

const firstPages = [
  ['Home', '/', 'home'],
  ['About us', '/about-us', 'page'],
  ['Product Catalogues', '/portal/catalogue-products', 'catalogue'],
] as const;

/**
 * Seeds the portal: administrator, default organisation and team, two catalogues, three pages, and this
 * installation as a provider. Runs once; concurrent starts are decided by a claim in the database.
 */
export async function bootstrapPortal(services: PortalBootstrapServices): Promise<void> {
  const { records, meta, portal, clock } = services;
  if (await meta.get(bootstrappedName)) return;
  await records.write(async () => {
    if (!(await meta.claim(bootstrappedName, '1'))) return;
    const now = clock.now();
    const dates = { CreatedAt: now, UpdatedAt: now };
    await portal.organisations.create(defaultOrganisationName);
    await createAdministrator(services);
    for (const [Name, VisibilityStatus] of firstCatalogues)
      await portal.catalogues.insert({
        CID: createSortableId(now),
        Name,
        NameWithSlug: toSlug(Name),
        VisibilityStatus,
        ...dates,
      });
    for (const [Title, Path, Template] of firstPages)
      await portal.pages.insert({
        CID: createSortableId(now),
        Title,
        Path,
        Template,
        Status: 'Published',
        AllowFormSubmission: false,
        PageTypeID: 0,
        ...dates,
      });
    await portal.providers.insert({
      CID: createSortableId(now),
      Name: localProviderName,
      Type: providerType,
      Status: 'Unknown',
      LastSyncedAt: 0,
      MetaData: {
        URL: '',
        OrgID: await services.defaultOrgId(),
        Gateway: services.settings['gateway.url'],
        PoliciesTags: [],
        InsecureSkipVerify: false,
      },
      Secret: '',
      ...dates,
    });
  });
}

/** The first administrator of the dashboard is also that of the portal, with the same password. */
async function createAdministrator(services: PortalBootstrapServices): Promise<void> {
  const { users, portal, clock, settings, defaultOrgId } = services;
  const email = settings['bootstrap.email'].toLowerCase();
  const { items } = await users.page(await defaultOrgId(), wholeList, email);
  const administrator = items.find(user => user.email_address === email);
  const now = clock.now();
  await portal.users.insert({
    CID: createSortableId(now),
    Email: email,
    First: administrator?.first_name ?? '',
    Last: administrator?.last_name ?? '',
    Active: true,
    OrganisationID: 0,
    Role: 'super-admin',
    Provider: 'password',
    Password: administrator?.password ?? '',
    ResetPassword: false,
    CreatedAt: now,
    UpdatedAt: now,
  });
}
