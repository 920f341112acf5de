import type { Key } from '#access/keys/schema.ts';
import type { Policy } from '#access/policies/schema.ts';
import type { Model } from '#definition/model.ts';
import type { TokenIssuer } from '#definition/token-issuer.ts';
import type { StoredProvider } from './providers/schema.ts';

/** Members of an API the portal needs. */
export interface ApiFacts {
  readonly apiId: string;
  readonly name: string;
  /** REST, GraphQL, streams… */
  readonly kind: string;
  readonly listenPath: string;
  readonly targetUrl: string;
  readonly active: boolean;
  /** How callers are known: `authToken`, `jwt`, `keyless`… */
  readonly authTypes: readonly string[];
  /** Header of its credential. */
  readonly authHeader: string;
  /** Requirement of a client certificate: beside another credential, or alone. */
  readonly certificateUse: CertificateRequirement | undefined;
  /** Ids in its allow list of client certificates. */
  readonly allowedCertificates: readonly string[];
}

export type CertificateRequirement = 'combined' | 'alone';

export const findCertificateUse = ({
  clientCertificates,
  authMethods,
}: Pick<Model, 'clientCertificates' | 'authMethods'>): CertificateRequirement | undefined => {
  if (!clientCertificates.enabled) return undefined;
  return authMethods.length > 0 ? 'combined' : 'alone';
};

export interface ProviderKey {
  readonly key_id: string;
  readonly key_hash: string;
  /** Unix seconds; 0 is never. Policies may have decided it. */
  readonly expires: number;
}

/** Parts of a connection that a test checks; the last four are the permissions that the portal needs, to write. */
export const planeChecks = ['url', 'secret', 'organisation', 'apis', 'policies', 'keys', 'certificates'] as const;

/** Why a part of the connection does not work, without the secret; empty where it does. */
export type PlaneFaults = Readonly<Partial<Record<(typeof planeChecks)[number], string>>>;

export interface NewKeyOptions {
  /** Name of the key; refused where it exists. */
  readonly name?: string | undefined;
  /** Id of the key that it replaces, whose used quota counts on; a provider on another installation begins anew. */
  readonly replaced?: string | undefined;
}

/**
 * Control plane of a provider: this installation, or another one over HTTP. Refused requests throw
 * `problem.provider_refused`; an unreachable or unauthorised provider `problem.provider_unavailable`.
 */
export interface ControlPlane {
  /** Tests the connection without a change; parts that were not reached are absent. */
  check(): Promise<PlaneFaults>;
  policies(): Promise<Policy[]>;
  /** The stored policy, with its ids and auth types. */
  createPolicy(policy: Policy): Promise<Policy>;
  /** Read-modify-write, so that members set elsewhere are kept. */
  updatePolicy(id: string, change: (policy: Policy) => Policy): Promise<Policy>;
  /** Idempotent: absence is no error. */
  deletePolicy(id: string): Promise<void>;
  /** The existing ones of these. */
  apis(ids: readonly string[]): Promise<ReadonlyMap<string, ApiFacts>>;
  /** Some of those whose name contains a text, by name, without MCP proxies. */
  searchApis(text: string): Promise<readonly ApiFacts[]>;
  /** Lets an API accept the tokens of an issuer, with the policies of their scopes. Idempotent: others are kept. */
  addTokenIssuer(apiId: string, issuer: TokenIssuer): Promise<void>;
  /** Removes the scopes of an API that select one of these policies. Idempotent; others are kept. */
  removePolicyScopes(apiId: string, policyIds: readonly string[]): Promise<void>;
  /**
   * The key with its current `quota_remaining` and `quota_renews`; undefined where it does not exist. The signal ends a
   * request to another installation.
   */
  readKey(keyId: string, signal?: AbortSignal): Promise<Key | undefined>;
  createKey(key: Key, options?: NewKeyOptions): Promise<ProviderKey>;
  /** Lets a key expire at a Unix time, unless it does earlier; its counters go on. Absence is no error. */
  expireKey(keyId: string, unixSeconds: number): Promise<void>;
  /**
   * Read-modify-write with the id of the key unchanged; undefined where it does not exist. Its quota is reset, unless
   * it keeps its counters.
   */
  changeKey(
    keyId: string,
    change: (key: Key) => Key,
    options?: { readonly keepsCounters: boolean },
  ): Promise<ProviderKey | undefined>;
  /** Idempotent: absence is no error. */
  deleteKey(keyId: string): Promise<void>;
  /** Id of the stored certificate with this SHA-256 fingerprint; undefined where there is none. */
  findCertificate(fingerprint: string): Promise<string | undefined>;
  /** Stores a certificate; its id. */
  addCertificate(pem: string): Promise<string>;
  /** Idempotent: absence is no error. */
  deleteCertificate(id: string): Promise<void>;
  /** Adds a certificate to the allow list of an API, or removes it. Idempotent; an API without a list stays as it is. */
  setClientCertificate(apiId: string, certificateId: string, isAllowed: boolean): Promise<void>;
}

/** The key with the earlier of its expiry and this one. */
export const withExpiry = (key: Key, unixSeconds: number): Key => ({
  ...key,
  expires: key.expires && key.expires > 0 ? Math.min(key.expires, unixSeconds) : unixSeconds,
});

export type ControlPlaneOf = (provider: StoredProvider) => ControlPlane;

/** A provider with a URL is remote, one without is this installation. */
export function selectControlPlane(planes: { local: ControlPlaneOf; remote: ControlPlaneOf }): ControlPlaneOf {
  return provider => (provider.MetaData.URL ? planes.remote(provider) : planes.local(provider));
}
