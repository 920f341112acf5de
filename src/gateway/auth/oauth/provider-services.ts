import type { KeyStore } from '#access/keys/store.ts';
import type { OauthCodeStore } from '#access/oauth/code-store.ts';
import type { StoredClient } from '#access/oauth/schema.ts';
import type { OauthClientStore } from '#access/oauth/store.ts';
import type { OauthTokenStore } from '#access/oauth/token-store.ts';
import type { PolicyStore } from '#access/policies/store.ts';
import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { InstallationSecrets } from '#people/installation/secrets.ts';
import type { Records } from '#storage/records.ts';
import type { PasswordCheck } from '../password-check.ts';
import type { Parameters, ProviderSettings } from './schema.ts';

/** Services of the provider in the main thread. */
export interface ProviderServices {
  readonly records: Records;
  readonly oauthClients: OauthClientStore;
  readonly oauthTokens: OauthTokenStore;
  readonly oauthCodes: OauthCodeStore;
  readonly keys: KeyStore;
  readonly policies: PolicyStore;
  readonly secrets: InstallationSecrets;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly outbound: OutboundClient;
  readonly log: Log;
  readonly passwords: PasswordCheck;
}

/** A token request of an authenticated client. */
export interface GrantRequest {
  readonly provider: ProviderSettings;
  readonly client: StoredClient;
  readonly parameters: Parameters;
}
