import { X509Certificate } from 'node:crypto';
import type { AddressPolicies } from '#base/address-policies.ts';
import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import { isObject } from '#base/json-tree.ts';
import type { GrantStore } from '../../organisations/grant-store.ts';
import type { SignInLimit } from '../../sessions/sign-in-limit.ts';
import { BerError } from '../ldap/ber.ts';
import { type LdapConnection, openLdap } from '../ldap/connection.ts';
import { anyObject, toLdapServer } from '../ldap/directory.ts';
import { toFailure } from '../ldap/message-reader.ts';
import { fetchProvider, fetchProviderJson, type OpenIdProvider } from '../oidc/discovery.ts';
import { isProviderOutage, ProviderFailure } from '../problems.ts';
import { fetchMetadata, parseMetadata, type SamlProvider } from '../saml/metadata.ts';
import { type LdapConfig, readLdap, readOpenIdConnect, readSaml } from './provider-configs.ts';
import type { IdentityProfile } from './schema.ts';

export interface ProviderCheckServices {
  outbound: OutboundClient;
  addressPolicies: AddressPolicies;
  grants: GrantStore;
  signInLimit: SignInLimit;
  clock: Clock;
}

export interface ProviderCheck {
  readonly check: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly message: string;
}

/** One check: returns what it found; an unusable provider fails it. */
interface CheckStep {
  readonly check: string;
  run(): Promise<string> | string;
}

/** A check that does not apply to a profile. */
class Skipped extends Error {}

/**
 * Tests the provider of a profile without a user, in the way and the networks of a sign-on. Documents are fetched, not
 * taken from the cache.
 */
export function checkProvider(
  services: ProviderCheckServices,
  profile: IdentityProfile,
  address: string,
): Promise<ProviderCheck[]> {
  if (profile.ProviderName === 'SocialProvider') return runChecks(listOpenIdChecks(services, profile));
  if (profile.ProviderName === 'SAMLProvider') return runChecks(listSamlChecks(services, profile));
  return checkDirectory(services, profile, address);
}

/** Runs checks in order; those behind a failed one are skipped. */
async function runChecks(steps: readonly CheckStep[]): Promise<ProviderCheck[]> {
  const results: ProviderCheck[] = [];
  for (const { check, run } of steps) {
    const hasFailed = results.some(({ status }) => status === 'failed');
    results.push(
      hasFailed ? { check, status: 'skipped', message: 'an earlier check failed' } : await runCheck({ check, run }),
    );
  }
  return results;
}

async function runCheck({ check, run }: CheckStep): Promise<ProviderCheck> {
  try {
    return { check, status: 'passed', message: await run() };
  } catch (error) {
    if (error instanceof Skipped) return { check, status: 'skipped', message: error.message };
    const failure = error instanceof BerError ? toFailure(error) : error;
    if (isProviderOutage(failure)) return { check, status: 'failed', message: (failure as Error).message };
    throw error;
  }
}

function listOpenIdChecks(
  { outbound }: ProviderCheckServices,
  { OrgID, ProviderConfig }: IdentityProfile,
): CheckStep[] {
  const { DiscoverURL } = readOpenIdConnect(ProviderConfig);
  let provider: OpenIdProvider;
  return [
    {
      check: 'discovery',
      async run() {
        provider = await fetchProvider(outbound, OrgID, DiscoverURL);
        return `issuer ${provider.issuer}`;
      },
    },
    {
      check: 'keys',
      async run() {
        const document = await fetchProviderJson(outbound, OrgID, provider.jwksUrl);
        const keys = isObject(document) && Array.isArray(document.keys) ? document.keys.filter(isObject) : [];
        if (keys.length === 0) throw new ProviderFailure('jwks_uri has no keys');
        return `${keys.length} keys`;
      },
    },
  ];
}

function listSamlChecks(
  { outbound, clock }: ProviderCheckServices,
  { OrgID, ProviderConfig }: IdentityProfile,
): CheckStep[] {
  const { IDPMetadata, IDPMetadataURL } = readSaml(ProviderConfig);
  let provider: SamlProvider;
  return [
    {
      check: 'metadata',
      async run() {
        provider =
          IDPMetadata === '' ? await fetchMetadata(outbound, OrgID, IDPMetadataURL) : parseMetadata(IDPMetadata);
        return `entity id ${provider.entityId}`;
      },
    },
    { check: 'certificates', run: () => checkCertificates(provider.certificates, clock.now()) },
  ];
}

/** Signatures are verified with the keys alone: an expired certificate is reported, and is no failure. */
function checkCertificates(certificates: readonly string[], nowMs: number): string {
  const parsed = certificates.map(parseCertificate);
  if (parsed.every(it => it.publicKey.asymmetricKeyType !== 'rsa'))
    throw new ProviderFailure('the metadata has no signing certificate with an RSA key');
  const expired = parsed.filter(it => it.validToDate.getTime() <= nowMs).length;
  return `${parsed.length} signing certificates, ${expired} expired`;
}

function parseCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new ProviderFailure('the metadata has a malformed certificate', { cause });
  }
}

async function checkDirectory(
  services: ProviderCheckServices,
  { OrgID, ProviderConfig }: IdentityProfile,
  address: string,
): Promise<ProviderCheck[]> {
  const config = readLdap(ProviderConfig);
  let connection: LdapConnection | undefined;
  try {
    return await runChecks([
      {
        check: 'connection',
        async run() {
          const policy = services.addressPolicies.withNetworks((await services.grants.find(OrgID)).networks);
          connection = await openLdap(toLdapServer(config, policy));
          return 'connected';
        },
      },
      { check: 'bind', run: () => bindAdministrator(services, config, connection!, address) },
      { check: 'search', run: () => readBase(config, connection!) },
    ]);
  } finally {
    connection?.close();
  }
}

/** Wrong passwords count as failed sign-ins: a test must not be faster to guess with than a sign-on. */
async function bindAdministrator(
  { signInLimit }: ProviderCheckServices,
  { LDAPServer, LDAPAdminUser, LDAPAdminPassword }: LdapConfig,
  connection: LdapConnection,
  address: string,
): Promise<string> {
  if (LDAPAdminUser === '') throw new Skipped('users bind with their own name');
  const counted = signInLimit.begin(JSON.stringify(['profile test', LDAPServer, LDAPAdminUser]), address);
  if (!(await connection.bind(LDAPAdminUser, LDAPAdminPassword)))
    throw new ProviderFailure('the directory refuses LDAPAdminUser');
  counted.succeed();
  return 'LDAPAdminUser accepted';
}

async function readBase(config: LdapConfig, connection: LdapConnection): Promise<string> {
  if (config.LDAPAdminUser === '') throw new Skipped('the directory is searched with the password of a user');
  const entries = await connection.search({
    base: config.LDAPBaseDN,
    scope: 0,
    filter: anyObject,
    userName: '',
    attributes: ['objectClass'],
    maxEntries: 1,
  });
  if (entries.length === 0) throw new ProviderFailure('LDAPBaseDN does not exist, or LDAPAdminUser may not read it');
  return 'LDAPBaseDN found';
}
