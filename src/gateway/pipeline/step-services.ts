import type { AddressPolicies } from '#base/address-policies.ts';
import type { AddressPolicy } from '#base/address-policy.ts';
import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Inject } from '#operations/in-process-request.ts';
import type { Counters } from '#storage/shared/shared.ts';
import type { LocalCounters } from '#storage/shared/threads.ts';
import type { CertificateCache } from '../auth/certificates.ts';
import type { JwksCache } from '../auth/jwks.ts';
import type { KeyCache } from '../auth/key-cache.ts';
import type { OauthRequest, OauthResponse } from '../auth/oauth/schema.ts';
import type { OauthTokenCache } from '../auth/oauth/tokens.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { OrganisationLimitCache } from '../limits/organisations.ts';
import type { ServiceDiscovery } from '../proxy/service-discovery.ts';
import type { NetworkTools } from '../runtime/network-services.ts';
import type { DefinitionSecrets } from '../variables/definition-secrets.ts';
import type { Exchange } from './exchange.ts';
import type { TenantGrants } from './tenant-grants.ts';
import type { RpcCall } from './thread-rpc.ts';

/** What a traffic thread may ask the main thread. */
export interface MainThreadRpc {
  oauth(request: OauthRequest): Promise<OauthResponse>;
  /** Whether it is the gateway secret. */
  explains(request: { readonly secret: string }): Promise<boolean>;
  /** Whether a port is free of other processes; rejects where it is not. Threads share ports among themselves. */
  claimPort(request: { readonly port: number }): Promise<void>;
  releasePort(request: { readonly port: number }): Promise<void>;
  /** What the control interface answers. */
  readonly control: Inject;
}

/** What an event is about: a call, or something of an API that no call was part of. */
export type EventSubject = Pick<Exchange, 'api' | 'path' | 'clientAddress'>;

/** What steps may use of the thread they run in. Each kind of step adds what it needs here. */
export interface StepServices {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: Counters;
  /** Those of this process alone, which answer at once. */
  readonly processCounters: LocalCounters;
  readonly keyCache: KeyCache;
  readonly certificates: CertificateCache;
  readonly addressPolicies: AddressPolicies;
  /** What asks other servers for an API, held to the policy of its organisation. */
  networkFor(policy: AddressPolicy): NetworkTools;
  /** The way out for calls that are not proxied traffic. */
  readonly outbound: OutboundClient;
  readonly jwks: JwksCache;
  readonly oauthTokens: OauthTokenCache;
  /** Has the main thread do what a traffic thread cannot: writing, above all. */
  readonly rpc: RpcCall<MainThreadRpc>;
  readonly organisationLimits: OrganisationLimitCache;
  /** What organisations may use. A definition is compiled again when the grants of its organisation change. */
  readonly grants: TenantGrants;
  /** What definitions may name: of the organisation of the API that is compiled, of none elsewhere. */
  readonly secrets: DefinitionSecrets;
  /** Whether a context variable of this name can exist in the API that is compiled. */
  readonly isContextName: (name: string) => boolean;
  /** Service registries that upstream hosts are looked up in. */
  readonly serviceDiscovery: ServiceDiscovery;
  /** Answers that are kept. */
  readonly responseCache: ResponseCache;
  /** Tells handlers what happened; never waits. */
  emitEvent(event: string, subject: EventSubject, message: string, details?: Readonly<Record<string, unknown>>): void;
}
