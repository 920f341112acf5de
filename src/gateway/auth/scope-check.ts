import { bodyFromBytes } from '../http/body.ts';
import { stripMatrixParameters } from '../http/path.ts';
import type { GatewayResponse } from '../http/response.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import { ApiCompileError, type Step, type StepContext, type StepReads } from '../pipeline/step.ts';
import { deny } from './auth-result.ts';
import { createBearerChallenge } from './bearer-token.ts';
import {
  createScopeReader,
  listOperationScopes,
  type OperationScopes,
  readRequiredScopes,
  type ScopeAlternatives,
} from './scopes.ts';
import type { AuthServices } from './services.ts';

const verifyingModes = ['jwt', 'externalOAuth', 'oidc'] as const;
const description = 'The token lacks a required scope';

type Services = Pick<AuthServices, 'emitEvent' | 'settings'>;

const reads = {
  api: ['oauth2'],
  endpoints: ['scopeCheck'],
  also: {
    api: [
      'authMethods',
      'authentication',
      'document',
      'mcp',
      'metadataDocument',
      'upstream',
      'scopeScheme',
      'securityRequirements',
    ],
  },
} as const satisfies StepReads;

type Context = StepContext<Services, typeof reads>;

/** Scope check: the token has the scopes that the OpenAPI document requires for the operation, the API, or both. */
export const scopeCheckStep: Step<Services, typeof reads> = {
  name: 'scope-check',
  reads,
  build(context) {
    const { model } = context;
    const { enabled, scopeCheckEnabled } = model.oauth2;
    if (!enabled || !scopeCheckEnabled || !model.authentication.enabled) return undefined;
    if (!verifyingModes.some(mode => model.authMethods.includes(mode)))
      throw new ApiCompileError('scope checks need an auth method that verifies tokens, and the API has none');
    const readScopes = createScopeReader(model.oauth2);
    const getGlobalScopes = compileGlobalScopes(model);
    const find = createOperationFinder(context);
    const reject = createRejection(context);
    return {
      request(call) {
        if (call.skipsAuth || call.bearerToken === '') return undefined;
        if (!call.verifiedToken) return refuse(call, 'bearer_unverified');
        const operation = find(call);
        if (operation === 'unclear') return refuse(call, 'path_ambiguous');
        if (operation?.isDisabled) return undefined;
        const held = readScopes(call.verifiedToken.claims);
        const required = [...(operation?.required ?? []), getGlobalScopes(call)];
        const unmet = required.filter(lists => !isMet(lists, held));
        return unmet.length === 0 ? undefined : reject(call, unmet);
      },
    };
  },
};

const isMet = (lists: ScopeAlternatives, held: ReadonlySet<string>) =>
  lists.length === 0 || lists.some(list => list.every(scope => held.has(scope)));

const noScopes: ScopeAlternatives = [];

/** The scopes of the security requirement that matched. */
function compileGlobalScopes({
  oauth2,
  document,
  scopeScheme,
  securityRequirements,
}: Context['model']): (call: Exchange) => ScopeAlternatives {
  if (oauth2.scopeSource === 'operation') return () => noScopes;
  const all = readRequiredScopes(document?.security, scopeScheme);
  if (securityRequirements.length === 0) return () => all;
  const each = securityRequirements.map((_, at) => {
    const requirement = Array.isArray(document?.security) ? document.security.slice(at, at + 1) : [];
    return readRequiredScopes(requirement, scopeScheme);
  });
  return call => each[call.matchedAlternative] ?? all;
}

type OperationMatch = OperationScopes | undefined | 'unclear';

/** An ambiguous path must select the same operation in both forms. */
function createOperationFinder({ model, version, services }: Context): (call: Exchange) => OperationMatch {
  const operations = listOperationScopes(model, version);
  const enforced = model.oauth2.scopeSource === 'global' ? operations.map(it => ({ ...it, required: [] })) : operations;
  const matcher = createEndpointMatcher(enforced, { model, version, settings: services.settings });
  if (model.mcp) return call => joinScopes(matcher?.all(call) ?? []);
  return call => {
    const operation = matcher?.find(call);
    return call.isPathAmbiguous && matcher?.find(call, stripMatrixParameters) !== operation ? 'unclear' : operation;
  };
}

/** Scopes of the JSON-RPC method and of the primitive: both are required. */
function joinScopes(found: readonly OperationScopes[]): OperationMatch {
  const [first] = found;
  if (!first || found.length === 1) return first;
  const enabled = found.filter(({ isDisabled }) => !isDisabled);
  return { ...first, isDisabled: enabled.length === 0, required: enabled.flatMap(({ required }) => required) };
}

function createRejection({
  model,
  services,
}: Context): (call: Exchange, unmet: readonly ScopeAlternatives[]) => GatewayResponse {
  const challenge = createBearerChallenge(model);
  return (call, unmet) => {
    const scope = [...new Set(unmet.flatMap(lists => lists[0]!))].join(' ');
    const error = { error: 'insufficient_scope', error_description: description, scope };
    const response = deny(services, call, 'scope_insufficient', call.keyHash, 'Scope check failed');
    response.headers.set('Content-Type', 'application/json');
    response.headers.append('WWW-Authenticate', challenge(call, error));
    response.body = bodyFromBytes(Buffer.from(JSON.stringify(error)));
    return response;
  };
}
