import { revokeClient, revokeToken } from '#access/oauth/revocation.ts';
import { createPublicId } from '#base/ids.ts';
import { passwordCheck } from '../password-check.ts';
import { authenticateClient, readBasic, redirectOf, withParameters } from './clients.ts';
import { wayOf } from './grants.ts';
import { challengeOf, issue, keyFor, newCode, newGrant, readRules, scopeOf, tokenReply } from './issue-token.ts';
import type { Asking, ProviderTools } from './provider-services.ts';
import { rejectedCredentials } from './rejected.ts';
import {
  clientRefusedReply,
  type Denied,
  denied,
  errorReply,
  errors,
  isDenied,
  redirectReply,
  reply,
  statusReply,
} from './responses.ts';
import type { OauthAsked, OauthReply, OauthRoute } from './schema.ts';
import { tokenNotices } from './token-notifications.ts';

/** The OAuth 2.0 provider of all APIs. It runs in the main thread, which alone may write. */
export interface OauthProvider {
  answer(asked: OauthAsked): Promise<OauthReply>;
  /** Issues what a person has agreed to; who asks has shown that they may. */
  consent(asked: Consented): Promise<Granted | Denied>;
  close(): void;
}

/** The API, and what the client asked of the person. */
type Consented = Pick<OauthAsked, 'provider' | 'parameters'>;
/** Members of the answer to a login page. */
export type Granted = Readonly<Record<string, unknown>> & { readonly redirect_to: string };

type Answering = (asked: OauthAsked) => Promise<OauthReply>;

const millisecondsBetweenSweeps = 60_000;

export function oauthProvider(given: Omit<ProviderTools, 'passwords'>): OauthProvider {
  const services: ProviderTools = { ...given, passwords: passwordCheck(given.clock) };
  const { settings, clock, oauthClients, oauthTokens, oauthCodes, log } = services;
  const status = settings['oauth.error_status'];
  const notices = tokenNotices({
    outbound: services.outbound,
    log,
    pauseMs: settings['oauth.notice_pause_seconds'] * 1000,
  });
  const rejected = rejectedCredentials(services);
  let sweptAtMs = 0;

  /** Now and then, whoever asks for a token sees what is past swept away. */
  function sweep(): void {
    if (clock.now() - sweptAtMs < millisecondsBetweenSweeps) return;
    sweptAtMs = clock.now();
    void Promise.all([oauthTokens.sweep(sweptAtMs), oauthCodes.sweep(sweptAtMs)]).catch(error =>
      log.warn({ reason: (error as Error).message }, 'expired tokens could not be removed'),
    );
  }

  /** What a person is asked to agree to: which client, answered where, in which way. */
  async function wantedOf({ provider, parameters }: Consented) {
    if (!parameters) return denied('invalid_request');
    const { response_type: type = '', client_id: id = '', redirect_uri: asked = '' } = parameters;
    if (!provider.authorizeTypes.includes(type) || !(type === 'code' || type === 'token'))
      return denied(type === '' ? 'invalid_request' : 'unsupported_response_type');
    const client = id === '' ? undefined : await oauthClients.get(provider.apiId, id);
    if (!client) return denied(id === '' ? 'invalid_request' : 'server_error');
    const redirect = redirectOf(client, asked);
    if (typeof redirect !== 'string') return redirect;
    const challenge = challengeOf(parameters.code_challenge, parameters.code_challenge_method);
    if (typeof challenge !== 'string') return challenge;
    const scope = scopeOf(parameters.scope);
    if (typeof scope !== 'string') return scope;
    return {
      type,
      client,
      asked,
      redirect,
      challenge,
      scope,
      state: parameters.state ?? '',
      parameters,
      provider,
    } as const;
  }

  const authorize: Answering = async asked => {
    const wanted = await wantedOf(asked);
    if (isDenied(wanted)) return statusReply(status, wanted.description ?? errors[wanted.error]);
    const { loginUrl } = asked.provider;
    if (loginUrl === '') return statusReply(status, 'The API names no page to sign in at');
    if (asked.method !== 'GET' || asked.query === '') return redirectReply(307, loginUrl);
    return redirectReply(307, `${loginUrl}${loginUrl.includes('?') ? '&' : '?'}${asked.query}`);
  };

  const authorizeClient: Answering = async asked => {
    if (!(await services.secrets.matches('gateway', asked.gatewaySecret))) return rejected.gatewaySecret(asked);
    const given = await consent(asked);
    return isDenied(given) ? errorReply(status, given, asked.parameters?.state) : reply(200, given);
  };

  async function consent(asked: Consented): Promise<Granted | Denied> {
    const wanted = await wantedOf(asked);
    if (isDenied(wanted)) return wanted;
    const rules = readRules(wanted.parameters.key_rules ?? '');
    const key = rules && isDenied(rules) ? rules : await keyFor(services, wanted, rules);
    if (isDenied(key)) return key;
    sweep();
    return wanted.type === 'code' ? grantCode(wanted, key) : grantToken(wanted, key);
  }

  type Wanted = Exclude<Awaited<ReturnType<typeof wantedOf>>, Denied>;
  type RightsKey = Exclude<Awaited<ReturnType<typeof keyFor>>, Denied>;

  async function grantCode(wanted: Wanted, key: RightsKey): Promise<Granted> {
    const { provider, client, asked, redirect, challenge, scope, state } = wanted;
    const code = newCode();
    const expiresAtMs = clock.now() + settings['oauth.code_seconds'] * 1000;
    const owner = {
      orgId: provider.orgId,
      apiId: provider.apiId,
      clientId: client.client_id,
      grantId: createPublicId(),
    };
    const consent = { redirectUri: asked, scope, challenge, key };
    await oauthCodes.insert({ ...owner, code, expiresAtMs, consent }, clock.now());
    const given = { code, ...(state && { state }) };
    return { ...given, redirect_to: withParameters(redirect, given, false) };
  }

  async function grantToken(wanted: Wanted, key: RightsKey): Promise<Granted> {
    const grant = newGrant(wanted, wanted.scope);
    const issued = await services.records.write(() => issue(services, { grant, key, withRefresh: false }));
    const given = tokenReply(issued);
    const shown = { ...given, expires_in: String(given.expires_in), ...(wanted.state && { state: wanted.state }) };
    notices.send(wanted.provider, {
      auth_code: '',
      new_oauth_token: issued.accessToken,
      refresh_token: '',
      old_refresh_token: '',
      notification_type: 'new',
    });
    return {
      ...given,
      ...(wanted.state && { state: wanted.state }),
      redirect_to: withParameters(wanted.redirect, shown, true),
    };
  }

  const token: Answering = async asked => {
    const { method, provider, parameters, authorization } = asked;
    const refused = (why: Denied) => errorReply(status, why, parameters?.state);
    if (method !== 'POST' || !parameters) return refused(denied('invalid_request'));
    const { grant_type: type = '' } = parameters;
    if (type === '') return refused(denied('invalid_request', 'grant_type is required'));
    const way = wayOf(type, provider.grants);
    if (!way) return refused(denied('unsupported_grant_type'));
    const client = await authenticateClient(oauthClients, provider.apiId, authorization, parameters);
    if (isDenied(client)) {
      if (client.error !== 'invalid_client') return refused(client);
      rejected.client(asked);
      return clientRefusedReply(client, readBasic(authorization) !== undefined, parameters.state);
    }
    sweep();
    const asking: Asking = { provider, client, parameters };
    const granted = await way(services, asking);
    if (isDenied(granted)) return refused(granted);
    const { issued, notice } = granted;
    notices.send(provider, {
      ...notice,
      new_oauth_token: issued.accessToken,
      refresh_token: issued.refreshToken ?? '',
    });
    return reply(200, tokenReply(issued));
  };

  /** Whoever has a token may end it; there is nothing more to show. */
  const revoke: Answering = async ({ provider, parameters }) => {
    const { token: text = '', token_type_hint: hint = '' } = parameters ?? {};
    if (text === '') return statusReply(400, 'token is required');
    await revokeToken(services, provider.apiId, { token: text, hint });
    return statusReply(200, 'token revoked successfully');
  };

  const revokeAll: Answering = async asked => {
    const { provider, parameters } = asked;
    const { apiId } = provider;
    const { client_id: id = '', client_secret: secret = '' } = parameters ?? {};
    if (id === '') return statusReply(401, 'client_id is required');
    if (secret === '') return statusReply(401, 'client_secret is required');
    // Unknown clients are refused like wrong secrets: who has no secret learns of no client.
    if (!(await oauthClients.clientSecretMatches(apiId, id, secret))) {
      rejected.client(asked);
      return statusReply(401, 'client secret is wrong');
    }
    await revokeClient(services, apiId, id);
    return statusReply(200, 'tokens revoked successfully');
  };

  const answers: Readonly<Record<OauthRoute, Answering>> = {
    authorize,
    'authorize-client': authorizeClient,
    token,
    revoke,
    'revoke-all': revokeAll,
  };
  return { answer: asked => answers[asked.route](asked), consent, close: notices.close };
}
