import type { Key } from '#access/keys/schema.ts';
import type { Policy } from '#access/policies/schema.ts';
import type { StoredProvider } from './providers/schema.ts';

/** What the portal shows of an API. */
export interface ApiFacts {
  readonly apiId: string;
  readonly name: string;
  /** REST, GraphQL, streams… */
  readonly kind: string;
  readonly listenPath: string;
  readonly targetUrl: string;
  readonly active: boolean;
}

export interface ProviderKey {
  readonly key_id: string;
  readonly key_hash: string;
  /** Unix seconds; 0 is never. Policies may have decided it. */
  readonly expires: number;
}

/**
 * Where a provider keeps its APIs, policies and keys: this installation, or another one over HTTP. What it refuses is
 * `problem.provider_refused`; that it cannot be reached or will not have us is `problem.provider_unavailable`.
 */
export interface ControlPlane {
  policies(): Promise<Policy[]>;
  /** The policy as it was stored, with its ids and the authentication its APIs ask for. */
  createPolicy(policy: Policy): Promise<Policy>;
  /** Reads, changes and writes back, so that what was set elsewhere stays. */
  updatePolicy(id: string, change: (policy: Policy) => Policy): Promise<Policy>;
  /** One that is gone already is no failure. */
  deletePolicy(id: string): Promise<void>;
  /** Those of these that exist. */
  apis(ids: readonly string[]): Promise<ReadonlyMap<string, ApiFacts>>;
  createKey(key: Key): Promise<ProviderKey>;
  /** One that is gone already is no failure. */
  deleteKey(keyId: string): Promise<void>;
}

export type ControlPlaneOf = (provider: StoredProvider) => ControlPlane;

/** A provider with an address is another installation, one without is this one. */
export function selectControlPlane(planes: { local: ControlPlaneOf; remote: ControlPlaneOf }): ControlPlaneOf {
  return provider => (provider.MetaData.URL ? planes.remote(provider) : planes.local(provider));
}
