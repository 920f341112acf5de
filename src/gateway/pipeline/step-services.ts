import type { AddressPolicies } from '#base/address-policies.ts';
import type { AddressPolicy } from '#base/address-policy.ts';
import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Inject } from '#operations/in-process-request.ts';
import type { Counters } from '#storage/shared/shared.ts';
import type { LocalCounters } from '#storage/shared/threads.ts';
import type { CertificateCache } from '../auth/certificate-cache.ts';
import type { JwksCache } from '../auth/jwks.ts';
import type { KeyCache } from '../auth/key-cache.ts';
import type { OauthRequest, OauthResponse } from '../auth/oauth/schema.ts';
import type { OauthTokenCache } from '../auth/oauth/token-cache.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { OrganisationLimitCache } from '../limits/organisation-limit-cache.ts';
import type { ServiceDiscovery } from '../proxy/service-discovery.ts';
import type { NetworkTools } from '../runtime/network-services.ts';
import type { DefinitionSecrets } from '../variables/definition-secrets.ts';
import type { Exchange } from './exchange.ts';
import type { TenantGrants } from './tenant-grants.ts';
import type { RpcCall } from './thread-rpc.ts';

/** RPC methods of the main thread. */
export interface MainThreadRpc {
  oauth(request: OauthRequest): Promise<OauthResponse>;
  /** True for the gateway secret. */
  explains(request: { readonly secret: string }): Promise<boolean>;
  /** Rejects when another process has the port. Threads of this process share it (SO_REUSEPORT). */
  claimPort(request: { readonly port: number }): Promise<void>;
  releasePort(request: { readonly port: number }): Promise<void>;
  /** In-process request to the control API. */
  readonly control: Inject;
}

/** Subject of an event: a request, or an API alone. */
export type EventSubject = Pick<Exchange, 'api' | 'path' | 'clientAddress'>;

/** Services of a traffic thread that steps use; a step takes a `Pick` of what it needs. */
export interface StepServices {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: Counters;
  /** Counters of this process only; synchronous. */
  readonly processCounters: LocalCounters;
  readonly keyCache: KeyCache;
  readonly certificates: CertificateCache;
  readonly addressPolicies: AddressPolicies;
  /** Outbound clients under the address policy of one organisation. */
  networkFor(policy: AddressPolicy): NetworkTools;
  /** Outbound HTTP client for everything but proxied traffic. */
  readonly outbound: OutboundClient;
  readonly jwks: JwksCache;
  readonly oauthTokens: OauthTokenCache;
  /** RPC to the main thread, for what a traffic thread cannot do: writes, above all. */
  readonly rpc: RpcCall<MainThreadRpc>;
  readonly organisationLimits: OrganisationLimitCache;
  /** Grants of organisations. A change compiles the definitions of the organisation again. */
  readonly grants: TenantGrants;
  /** Secrets that definitions may reference: those of the organisation whose API is compiled. */
  readonly secrets: DefinitionSecrets;
  /** True when the API that is compiled can have a context variable of this name. */
  readonly isContextName: (name: string) => boolean;
  /** Service discovery of upstream hosts. */
  readonly serviceDiscovery: ServiceDiscovery;
  /** Response cache. */
  readonly responseCache: ResponseCache;
  /** Emits an event to its handlers; never waits. */
  emitEvent(event: string, subject: EventSubject, message: string, details?: Readonly<Record<string, unknown>>): void;
}
