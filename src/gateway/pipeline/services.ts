import type { AddressPolicies } from '#base/address-policies.ts';
import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { SecretSource } from '#base/secrets.ts';
import type { Settings } from '#base/settings.ts';
import type { Counters } from '#storage/shared/shared.ts';
import type { LocalCounters } from '#storage/shared/threads.ts';
import type { Exchange } from './exchange.ts';
import type { TenantGrants } from './tenant-grants.ts';

/** The subject of an event: a request, or an API that no request was part of. */
export type EventSubject = Pick<Exchange, 'api' | 'path' | 'clientAddress'>;

/** The secrets that definitions of one organisation may name. Every value handed out is redacted from then on. */
export interface DefinitionSecrets {
  /** Undefined where there is none of that name, and just so where the organisation has no grant for it. */
  find(place: SecretSource, name: string): string | undefined;
  /** Replaces every secret that any definition was given in this thread. */
  redact(text: string): string;
  /** Secrets of another organisation. */
  forOrganisation(orgId: string): DefinitionSecrets;
}

/**
 * Services of the traffic thread that every sub-module may use. A sub-module with services of its own extends this in its
 * `services.ts`; `steps/step-services.ts` is all of them together.
 */
export interface PipelineServices {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: Counters;
  /** Counters of this process alone, which answer without a promise. */
  readonly processCounters: LocalCounters;
  readonly addressPolicies: AddressPolicies;
  /** HTTP client for requests that are not proxied traffic. */
  readonly outbound: OutboundClient;
  /** Grants of organisations. A definition is compiled again when the grants of its organisation change. */
  readonly grants: TenantGrants;
  /** Secrets that a definition may name: of the organisation of the API that is compiled, of none elsewhere. */
  readonly secrets: DefinitionSecrets;
  /** True where a context variable of this name can exist in the API that is compiled. */
  readonly isContextName: (name: string) => boolean;
  /** Emits a gateway event to the handlers of the API; never waits. */
  emitEvent(event: string, subject: EventSubject, message: string, details?: Readonly<Record<string, unknown>>): void;
}
