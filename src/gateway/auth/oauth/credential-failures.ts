import { toAddressKey } from '#base/address-key.ts';
import { createFailureCounter, isWorthLogging } from '#base/failure-counter.ts';
import type { ProviderServices } from './provider-services.ts';
import { createStatusResponse } from './responses.ts';
import type { OauthRequest, OauthResponse } from './schema.ts';

const windowMs = 60_000;
const maxKeys = 20_000;
const gatewaySecretMessage = 'Attempted administrative access with invalid or missing key!';

/**
 * Wrong credentials on the OAuth routes. Credentials are verified before failures are counted: a right one passes however
 * many wrong ones came from its address. The 1st, 10th, 100th … per minute is logged, never the credential.
 */
export function createCredentialFailures({
  settings,
  clock,
  log,
}: Pick<ProviderServices, 'settings' | 'clock' | 'log'>) {
  const maxFailures = settings['management.max_auth_failures_per_minute'];
  const secrets = createFailureCounter({ maxFailures, windowMs, maxKeys }, clock);
  const clients = createFailureCounter({ maxFailures, windowMs, maxKeys }, clock);

  function logFailure({ provider, route, clientAddress }: OauthRequest, failures: number): void {
    if (isWorthLogging(failures))
      log.warn({ api: provider.apiId, route, address: clientAddress, failures }, 'wrong credential');
  }

  return {
    /** A wrong gateway secret from a login page. */
    rejectGatewaySecret(request: OauthRequest): OauthResponse {
      const key = toAddressKey(request.clientAddress);
      const isOverLimit = secrets.isOverLimit(key);
      logFailure(request, secrets.record(key));
      if (!isOverLimit) return createStatusResponse(403, gatewaySecretMessage);
      const refused = createStatusResponse(429, 'Too many wrong credentials; try again later');
      const seconds = String(Math.max(1, secrets.retryAfterSeconds(key)));
      return { ...refused, headers: { ...refused.headers, 'Retry-After': seconds } };
    },
    /** A wrong client secret. */
    recordClient(request: OauthRequest): void {
      logFailure(request, clients.record(`${request.provider.apiId} ${toAddressKey(request.clientAddress)}`));
    },
  };
}
