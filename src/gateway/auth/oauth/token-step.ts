import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Exchange, StepResult } from '../../pipeline/exchange.ts';
import { refuse } from '../../pipeline/refusals.ts';
import type { Step, StepReads } from '../../pipeline/step.ts';
import { deny, isAuthenticated, providesSession, setIdentity } from '../auth-result.ts';
import { readCredential, toCredentialSources } from '../credential-sources.ts';
import type { AuthServices } from '../services.ts';
import type { CachedClient, CachedToken } from './token-cache.ts';

type Services = Pick<AuthServices, 'emitEvent' | 'keyCache' | 'oauthTokens'>;

const reads = { api: ['oauth'], also: { api: ['authMethods', 'authentication'] } } as const satisfies StepReads;

/** OAuth: access tokens that this gateway issued. */
export const oauthTokenStep: Step<Services, typeof reads> = {
  name: 'oauth',
  reads,
  build({ model, services }) {
    if (!model.authMethods.includes('oauth')) return undefined;
    const { orgId, id: apiId } = model.identity;
    const places = toCredentialSources(model.oauth);
    const setsIdentity = providesSession(model, 'oauth');

    function checkClient(call: Exchange, text: string, token: CachedToken | undefined): MaybePromise<StepResult> {
      if (!token) return deny(services, call, 'oauth_unknown', services.keyCache.hashOf(text));
      const client = services.oauthTokens.client(apiId, token.clientId);
      return client instanceof Promise ? client.then(it => finish(call, token, it)) : finish(call, token, client);
    }

    function finish(call: Exchange, { known }: CachedToken, client: CachedClient | undefined): StepResult {
      if (!client) return refuse(call, 'oauth_client_revoked');
      if (setsIdentity) setIdentity(call, known, 'oauth');
      return undefined;
    }

    return {
      request(call) {
        if (isAuthenticated(call)) return undefined;
        const [scheme, text = ''] = readCredential(places, call).split(' ');
        if (text === '') return refuse(call, 'oauth_field_missing');
        if (scheme!.toLowerCase() !== 'bearer') return refuse(call, 'oauth_malformed');
        const token = services.oauthTokens.find(orgId, text);
        return token instanceof Promise
          ? token.then(it => checkClient(call, text, it))
          : checkClient(call, text, token);
      },
    };
  },
};
