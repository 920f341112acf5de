import { revokeClient, revokeToken } from '#access/oauth/revocation.ts';
import { createPublicId } from '#base/ids.ts';
import { createPasswordCheck } from '../password-check.ts';
import { appendParameters, authenticateClient, parseBasicHeader, resolveRedirectUri } from './client-authentication.ts';
import { createCredentialFailures } from './credential-failures.ts';
import { findGrantHandler } from './grants.ts';
import {
  buildTokenKey,
  createCode,
  createGrant,
  issueToken,
  parseKeyRules,
  toTokenResponse,
  validateCodeChallenge,
  validateScope,
} from './issue-token.ts';
import type { GrantRequest, ProviderServices } from './provider-services.ts';
import {
  createClientErrorResponse,
  createErrorResponse,
  createOauthError,
  createOauthResponse,
  createRedirectResponse,
  createStatusResponse,
  isOauthError,
  type OauthError,
  oauthErrorTexts,
} from './responses.ts';
import type { OauthRequest, OauthResponse, OauthRoute } from './schema.ts';
import { createTokenNotifier } from './token-notifications.ts';

/** OAuth 2.0 authorization server of all APIs. It runs in the main thread, the only one that writes. */
export interface OauthProvider {
  answer(request: OauthRequest): Promise<OauthResponse>;
  /** Issues a code or token after consent; the operation has authorised the actor. */
  consent(request: ConsentRequest): Promise<ConsentResult | OauthError>;
  close(): void;
}

/** An authorization request with the API's settings. */
type ConsentRequest = Pick<OauthRequest, 'provider' | 'parameters'>;
/** The response to a login page. */
export type ConsentResult = Readonly<Record<string, unknown>> & { readonly redirect_to: string };

type RouteHandler = (request: OauthRequest) => Promise<OauthResponse>;

const sweepIntervalMs = 60_000;

export function createOauthProvider(given: Omit<ProviderServices, 'passwords'>): OauthProvider {
  const services: ProviderServices = { ...given, passwords: createPasswordCheck(given.clock) };
  const { settings, clock, oauthClients, oauthTokens, oauthCodes, log } = services;
  const status = settings['oauth.error_status'];
  const notifier = createTokenNotifier({
    outbound: services.outbound,
    log,
    retryDelayMs: settings['oauth.notification_retry_seconds'] * 1000,
  });
  const failures = createCredentialFailures(services);
  let sweptAtMs = 0;

  /** Removes expired tokens and codes, at most once per interval. */
  function sweep(): void {
    if (clock.now() - sweptAtMs < sweepIntervalMs) return;
    sweptAtMs = clock.now();
    void Promise.all([oauthTokens.sweep(sweptAtMs), oauthCodes.sweep(sweptAtMs)]).catch(error =>
      log.warn({ reason: (error as Error).message }, 'expired token removal failed'),
    );
  }

  /** Validates an authorization request (RFC 6749, section 4.1.1). */
  async function validateAuthorization({ provider, parameters }: ConsentRequest) {
    if (!parameters) return createOauthError('invalid_request');
    const { response_type: type = '', client_id: id = '', redirect_uri: requestedUri = '' } = parameters;
    if (!provider.authorizeTypes.includes(type) || !(type === 'code' || type === 'token'))
      return createOauthError(type === '' ? 'invalid_request' : 'unsupported_response_type');
    const client = id === '' ? undefined : await oauthClients.get(provider.apiId, id);
    if (!client) return createOauthError(id === '' ? 'invalid_request' : 'server_error');
    const redirect = resolveRedirectUri(client, requestedUri);
    if (typeof redirect !== 'string') return redirect;
    const challenge = validateCodeChallenge(parameters.code_challenge, parameters.code_challenge_method);
    if (typeof challenge !== 'string') return challenge;
    const scope = validateScope(parameters.scope);
    if (typeof scope !== 'string') return scope;
    return {
      type,
      client,
      requestedUri,
      redirect,
      challenge,
      scope,
      state: parameters.state ?? '',
      parameters,
      provider,
    } as const;
  }

  const authorize: RouteHandler = async request => {
    const authorization = await validateAuthorization(request);
    if (isOauthError(authorization))
      return createStatusResponse(status, authorization.description ?? oauthErrorTexts[authorization.error]);
    const { loginUrl } = request.provider;
    if (loginUrl === '') return createStatusResponse(status, 'The API has no login page');
    if (request.method !== 'GET' || request.query === '') return createRedirectResponse(307, loginUrl);
    return createRedirectResponse(307, `${loginUrl}${loginUrl.includes('?') ? '&' : '?'}${request.query}`);
  };

  const authorizeClient: RouteHandler = async request => {
    if (!(await services.secrets.matches('gateway', request.gatewaySecret)))
      return failures.rejectGatewaySecret(request);
    const result = await consent(request);
    return isOauthError(result)
      ? createErrorResponse(status, result, request.parameters?.state)
      : createOauthResponse(200, result);
  };

  async function consent(request: ConsentRequest): Promise<ConsentResult | OauthError> {
    const authorization = await validateAuthorization(request);
    if (isOauthError(authorization)) return authorization;
    const rules = parseKeyRules(authorization.parameters.key_rules ?? '');
    const key = rules && isOauthError(rules) ? rules : await buildTokenKey(services, authorization, rules);
    if (isOauthError(key)) return key;
    sweep();
    return authorization.type === 'code' ? grantCode(authorization, key) : grantToken(authorization, key);
  }

  type AuthorizationRequest = Exclude<Awaited<ReturnType<typeof validateAuthorization>>, OauthError>;
  type RightsKey = Exclude<Awaited<ReturnType<typeof buildTokenKey>>, OauthError>;

  async function grantCode(authorization: AuthorizationRequest, key: RightsKey): Promise<ConsentResult> {
    const { provider, client, requestedUri, redirect, challenge, scope, state } = authorization;
    const code = createCode();
    const expiresAtMs = clock.now() + settings['oauth.code_ttl_seconds'] * 1000;
    const owner = {
      orgId: provider.orgId,
      apiId: provider.apiId,
      clientId: client.client_id,
      grantId: createPublicId(),
    };
    const consent = { redirectUri: requestedUri, scope, challenge, key };
    await oauthCodes.insert({ ...owner, code, expiresAtMs, consent }, clock.now());
    const responseParameters = { code, ...(state && { state }) };
    return { ...responseParameters, redirect_to: appendParameters(redirect, responseParameters, false) };
  }

  async function grantToken(authorization: AuthorizationRequest, key: RightsKey): Promise<ConsentResult> {
    const grant = createGrant(authorization, authorization.scope);
    const issued = await services.records.write(() => issueToken(services, { grant, key, withRefresh: false }));
    const tokenResponse = toTokenResponse(issued);
    const fragmentParameters = {
      ...tokenResponse,
      expires_in: String(tokenResponse.expires_in),
      ...(authorization.state && { state: authorization.state }),
    };
    notifier.send(authorization.provider, {
      auth_code: '',
      new_oauth_token: issued.accessToken,
      refresh_token: '',
      old_refresh_token: '',
      notification_type: 'new',
    });
    return {
      ...tokenResponse,
      ...(authorization.state && { state: authorization.state }),
      redirect_to: appendParameters(authorization.redirect, fragmentParameters, true),
    };
  }

  const token: RouteHandler = async request => {
    const { method, provider, parameters, authorization } = request;
    const reject = (why: OauthError) => createErrorResponse(status, why, parameters?.state);
    if (method !== 'POST' || !parameters) return reject(createOauthError('invalid_request'));
    const { grant_type: type = '' } = parameters;
    if (type === '') return reject(createOauthError('invalid_request', 'grant_type is required'));
    const grantHandler = findGrantHandler(type, provider.grants);
    if (!grantHandler) return reject(createOauthError('unsupported_grant_type'));
    const client = await authenticateClient(oauthClients, provider.apiId, authorization, parameters);
    if (isOauthError(client)) {
      if (client.error !== 'invalid_client') return reject(client);
      failures.recordClient(request);
      return createClientErrorResponse(client, parseBasicHeader(authorization) !== undefined, parameters.state);
    }
    sweep();
    const grantRequest: GrantRequest = { provider, client, parameters };
    const granted = await grantHandler(services, grantRequest);
    if (isOauthError(granted)) return reject(granted);
    const { issued, notice } = granted;
    notifier.send(provider, {
      ...notice,
      new_oauth_token: issued.accessToken,
      refresh_token: issued.refreshToken ?? '',
    });
    return createOauthResponse(200, toTokenResponse(issued));
  };

  /** Token revocation: possession of the token is enough. */
  const revoke: RouteHandler = async ({ provider, parameters }) => {
    const { token: text = '', token_type_hint: hint = '' } = parameters ?? {};
    if (text === '') return createStatusResponse(400, 'token is required');
    await revokeToken(services, provider.apiId, { token: text, hint });
    return createStatusResponse(200, 'token revoked successfully');
  };

  const revokeAll: RouteHandler = async request => {
    const { provider, parameters } = request;
    const { apiId } = provider;
    const { client_id: id = '', client_secret: secret = '' } = parameters ?? {};
    if (id === '') return createStatusResponse(401, 'client_id is required');
    if (secret === '') return createStatusResponse(401, 'client_secret is required');
    // Unknown clients are refused like wrong secrets, so that clients cannot be enumerated.
    if (!(await oauthClients.clientSecretMatches(apiId, id, secret))) {
      failures.recordClient(request);
      return createStatusResponse(401, 'client secret is wrong');
    }
    await revokeClient(services, apiId, id);
    return createStatusResponse(200, 'tokens revoked successfully');
  };

  const routeHandlers: Readonly<Record<OauthRoute, RouteHandler>> = {
    authorize,
    'authorize-client': authorizeClient,
    token,
    revoke,
    'revoke-all': revokeAll,
  };
  return { answer: request => routeHandlers[request.route](request), consent, close: notifier.close };
}
