import { setTimeout as wait } from 'node:timers/promises';
import { type Clock, formatIsoTime } from '#base/clock.ts';
import { createDatabaseId, createPublicId, createSecretText } from '#base/ids.ts';
import { hashPassword, type PasswordCost } from '#base/passwords.ts';
import { problems } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { Meta } from '#storage/meta.ts';
import type { Records } from '#storage/records.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import { buildUser, fullAdministrator } from '../users/schema.ts';
import type { UserStore } from '../users/store.ts';
import { defaultOrgMetaName } from './default-organisation.ts';
import { type InstallationSecrets, secretNames } from './secrets.ts';

/** Credentials of a new installation; printed once and written to `credentials.json`. */
export interface InstallationCredentials {
  organisation_id: string;
  admin_email: string;
  admin_password: string;
  admin_access_key: string;
  admin_secret: string;
  gateway_secret: string;
  portal_token: string;
}

export interface BootstrapServices {
  records: Records;
  meta: Meta;
  organisations: OrganisationStore;
  users: UserStore;
  secrets: InstallationSecrets;
  clock: Clock;
  settings: Settings;
  /** Wait for another process where `bootstrap.enabled` is off. */
  bootstrapTimeoutMs?: number;
  /** Called before that wait. */
  onBootstrapWait?: () => void;
  /** Cost of the hash of the administrator's password. */
  passwordCost?: PasswordCost | undefined;
}

const problem = problems('bootstrap', {
  not_bootstrapped: {
    status: 500,
    message:
      'The database has no organisation, and bootstrap.enabled is off: start a process that has it on, such as one with the role dashboard',
  },
});

const defaultBootstrapTimeoutMs = 60_000;
const pollIntervalMs = 250;
const administratorMetaName = 'bootstrap_user';

/** Creates the first organisation, its administrator and the secrets; undefined when they exist. */
export async function bootstrap(services: BootstrapServices): Promise<InstallationCredentials | undefined> {
  const { records, meta, settings } = services;
  if (await meta.get(defaultOrgMetaName)) return undefined;
  if (!settings['bootstrap.enabled']) return waitForBootstrap(services);
  const password = settings['bootstrap.password'] || createSecretText().slice(0, 20);
  const passwordHash = await hashPassword(password, services.passwordCost);
  return records.write(async () => {
    const organisationId = createDatabaseId();
    if (!(await meta.claim(defaultOrgMetaName, organisationId))) return undefined;
    const accessKey = await createAdministrator(services, organisationId, passwordHash);
    for (const name of secretNames) await services.secrets.renew(name);
    return readCredentials(services, { organisationId, password, accessKey });
  });
}

/** Another process creates them: this one does not have the credentials that the operator has chosen. */
async function waitForBootstrap(services: BootstrapServices) {
  const { meta, bootstrapTimeoutMs = defaultBootstrapTimeoutMs, onBootstrapWait } = services;
  onBootstrapWait?.();
  for (let waitedMs = 0; waitedMs < bootstrapTimeoutMs; waitedMs += pollIntervalMs) {
    await wait(pollIntervalMs);
    if (await meta.get(defaultOrgMetaName)) return undefined;
  }
  throw problem.not_bootstrapped();
}

/** True where `bootstrap.access_key` was changed after the first start: it is the key of no user. */
export async function isAccessKeyIgnored({ users, settings }: Pick<BootstrapServices, 'users' | 'settings'>) {
  const accessKey = settings['bootstrap.access_key'];
  return accessKey !== '' && !(await users.findByAccessKey(accessKey));
}

async function createAdministrator(services: BootstrapServices, orgId: string, passwordHash: string): Promise<string> {
  const { organisations, users, meta, clock, settings } = services;
  const createdAt = formatIsoTime(clock.now());
  await organisations.insert({ id: orgId, owner_name: settings['bootstrap.organisation'], created_at: createdAt });
  const accessKey = settings['bootstrap.access_key'] || createPublicId();
  const write = {
    email_address: settings['bootstrap.email'].toLowerCase(),
    first_name: 'First',
    last_name: 'Administrator',
    active: true,
    user_permissions: fullAdministrator as Record<string, 'admin'>,
  };
  const user = buildUser({ id: createDatabaseId(), accessKey, orgId, createdAt, write });
  await users.insert({ ...user, password: passwordHash, password_updated: createdAt });
  await meta.set(administratorMetaName, user.id);
  return accessKey;
}

async function readCredentials(
  { secrets, settings }: BootstrapServices,
  generated: { organisationId: string; password: string; accessKey: string },
): Promise<InstallationCredentials> {
  return {
    organisation_id: generated.organisationId,
    admin_email: settings['bootstrap.email'].toLowerCase(),
    admin_password: generated.password,
    admin_access_key: generated.accessKey,
    admin_secret: await secrets.read('admin'),
    gateway_secret: await secrets.read('gateway'),
    portal_token: await secrets.read('portal'),
  };
}

/** Rotates every credential that the settings do not fix. The old ones stop working at once. */
export async function rotateCredentials(services: BootstrapServices): Promise<InstallationCredentials | undefined> {
  const { records, meta, users, clock, settings } = services;
  const password = settings['bootstrap.password'] || createSecretText().slice(0, 20);
  const hash = await hashPassword(password);
  return records.write(async () => {
    const organisationId = await meta.get(defaultOrgMetaName);
    const userId = await meta.get(administratorMetaName);
    if (!organisationId || !userId) return undefined;
    for (const name of secretNames) await services.secrets.renew(name);
    const accessKey = settings['bootstrap.access_key'] || createPublicId();
    const change = { access_key: accessKey, password: hash, password_updated: formatIsoTime(clock.now()) };
    await users.change({ id: userId }, user => ({ ...user, ...change }));
    return readCredentials(services, { organisationId, password, accessKey });
  });
}
