import type { Exchange } from '../../pipeline/exchange.ts';
import { refuse } from '../../pipeline/refusals.ts';
import type { MaybePromise, Step, StepResult } from '../../pipeline/step.ts';
import { adopt, deny, givesSession, isKnown } from '../auth-result.ts';
import { credentialIn, placesOf } from '../credential-sources.ts';
import type { KnownClient, KnownToken } from './tokens.ts';

/** Callers send an access token that this gateway issued. */
export const oauth: Step = {
  name: 'oauth',
  build({ model, services }) {
    if (!model.modes.includes('oauth')) return undefined;
    const { orgId, id: apiId } = model.identity;
    const places = placesOf(model.oauth);
    const gives = givesSession(model, 'oauth');

    function found(call: Exchange, text: string, token: KnownToken | undefined): MaybePromise<StepResult> {
      if (!token) return deny(services, call, 'oauth_unknown', services.keyCache.hashOf(text));
      const client = services.oauthTokens.client(apiId, token.clientId);
      return client instanceof Promise ? client.then(it => entered(call, token, it)) : entered(call, token, client);
    }

    function entered(call: Exchange, { known }: KnownToken, client: KnownClient | undefined): StepResult {
      if (!client) return refuse(call, 'oauth_client_gone');
      if (gives) adopt(call, known, 'oauth');
      return undefined;
    }

    return {
      request(call) {
        if (isKnown(call)) return undefined;
        const [scheme, text = ''] = credentialIn(places, call).split(' ');
        if (text === '') return refuse(call, 'oauth_field_missing');
        if (scheme!.toLowerCase() !== 'bearer') return refuse(call, 'oauth_malformed');
        const token = services.oauthTokens.find(orgId, text);
        return token instanceof Promise ? token.then(it => found(call, text, it)) : found(call, text, token);
      },
    };
  },
};
