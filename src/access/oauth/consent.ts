import { z } from 'zod';
import type { Ownership } from '#apis/owners/store.ts';
import { parseUniqueJson } from '#base/json.ts';
import type { Settings } from '#base/settings.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { problem as operationProblem } from '#operations/problems.ts';
import { validate } from '#operations/validation-error.ts';
import type { FindApi } from '../api-lookup.ts';
import { refuseHiddenRights } from '../hidden-rights.ts';
import { refuseHiddenGrants } from '../keys/lookup.ts';
import { Key } from '../keys/schema.ts';
import type { PolicyStore } from '../policies/store.ts';
import { problem as accessProblem } from '../problems.ts';
import { findClientPolicies } from './client-rights.ts';
import { problem } from './problems.ts';
import type { OauthClientStore } from './store.ts';

/** Consent of a person to an OAuth client, as a login page reports it (RFC 6749, 4.1.1 and 4.2.1). */
export interface ConsentRequest {
  readonly orgId: string;
  readonly apiId: string;
  /** As a form of the authorization endpoint has them. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Authorization response for the client (RFC 6749, 4.1.2 and 4.2.2), or an error of 4.1.2.1. */
export type GrantConsentResult =
  | { readonly granted: Readonly<Record<string, unknown>> }
  | { readonly error: string; readonly description: string };

/** Issues a code or a token. The OAuth provider of the API does; supplied where the product is wired. */
export type GrantConsent = (request: ConsentRequest) => Promise<GrantConsentResult>;

export interface ConsentServices {
  findApi: FindApi;
  policies: PolicyStore;
  oauthClients: OauthClientStore;
  ownership: Ownership;
  settings: Settings;
  grantConsent: GrantConsent;
}

const maxParameterLength = 8000;
const parameter = z.string().max(maxParameterLength);

const Consent = z.strictObject({
  response_type: parameter.describe('`code` or `token`, as the API allows'),
  client_id: parameter,
  redirect_uri: parameter.optional().describe('Registered redirect URI of the client; optional if it has only one'),
  state: parameter.optional().describe('Opaque value, returned unchanged'),
  scope: parameter.optional(),
  code_challenge: parameter.optional().describe('PKCE: SHA-256 of the verifier, base64url'),
  code_challenge_method: parameter.optional().describe('S256'),
  key_rules: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .optional()
    .describe('Key of the token, as an object or as JSON text; defaults to the policy of the client'),
});

const Granted = z.object({
  redirect_to: z.string().describe('Redirect target of the browser'),
  state: z.string().optional(),
  code: z.string().optional().describe('Authorization code, for response_type code'),
  access_token: z.string().optional().describe('Access token, for response_type token'),
  token_type: z.string().optional(),
  expires_in: z.int().optional().describe('Seconds'),
  scope: z.string().optional(),
});

/** Key rules define a key, so they need `keys:write` and may name only APIs the caller may see. */
async function readKeyRules(rules: string | object, actor: Actor, services: ConsentServices): Promise<string> {
  const key = validate(Key, typeof rules === 'string' ? parseUniqueJson(rules) : rules, 'key_rules');
  if (!hasPermission(actor, 'keys:write'))
    throw operationProblem.not_permitted({ detail: { permission: 'keys:write' } });
  await refuseHiddenGrants(services, actor, key);
  return JSON.stringify(key);
}

/** Without key rules a token has the policy of its client. */
async function refuseHiddenClient(services: ConsentServices, actor: Actor, apiId: string, clientId: string) {
  const client = await services.oauthClients.get(apiId, clientId);
  if (client) await refuseHiddenRights(services, actor, ...(await findClientPolicies(services, client)));
}

export const authorizeOauthClient = operation({
  surface: 'dashboard',
  noun: 'oauth',
  name: 'authorizeOauthClient',
  method: 'POST',
  path: '/api/apis/oauth/{apiId}/authorize-client',
  about:
    'For login pages: issues an authorization code, or an implicit token, to a client after the consent of the user. ' +
    'key_rules require keys:write too.',
  permission: 'oauth:write',
  params: z.object({ apiId: z.string().describe('Public or database id of the API') }),
  body: Consent,
  returns: Granted,
  problems: [accessProblem.api_not_found, problem.api_without_tokens, problem.api_inactive, problem.consent_refused],
  async handle({ actor, params, body, audit }, services: ConsentServices) {
    const { key_rules, ...parameterMembers } = body;
    audit(body.client_id);
    const api = await services.findApi(params.apiId, actor.orgId);
    if (!api) throw accessProblem.api_not_found();
    const rules = key_rules ? { key_rules: await readKeyRules(key_rules, actor, services) } : {};
    if (!key_rules) await refuseHiddenClient(services, actor, api.apiId, body.client_id);
    const parameters = Object.fromEntries(
      Object.entries({ ...parameterMembers, ...rules }).filter(([, it]) => it !== undefined),
    );
    const result = await services.grantConsent({ orgId: actor.orgId, apiId: api.apiId, parameters });
    if ('error' in result) throw problem.consent_refused({ detail: { ...result } });
    return result.granted as z.input<typeof Granted>;
  },
});
