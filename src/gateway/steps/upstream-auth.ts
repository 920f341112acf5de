import { tokenPattern } from '#base/http-syntax.ts';
import type { Model } from '#definition/model.ts';
import type { Exchange, StepHooks, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { ApiCompileError, type Step, type StepContext, type StepReads } from '../pipeline/step.ts';
import { createUpstreamTokens, type UpstreamToken } from '../proxy/upstream-tokens.ts';

const defaultAuthHeader = 'Authorization';

type Services = Pick<PipelineServices, 'clock' | 'emitEvent' | 'log' | 'outbound'>;

const reads = { api: ['upstreamAuth', 'upstreamClientCredentials', 'upstreamPassword'] } as const satisfies StepReads;

/** Upstream authentication with credentials of the gateway, in place of those of the client. */
export const upstreamAuthStep: Step<Services, typeof reads> = {
  name: 'upstream-auth',
  reads,
  build(context) {
    const { enabled, basicEnabled, oauthEnabled } = context.model.upstreamAuth;
    if (!enabled) return undefined;
    // With both enabled the token wins over the password.
    if (oauthEnabled) return buildTokenAuth(context);
    return basicEnabled ? buildBasicAuth(context.model.upstreamAuth) : undefined;
  },
};

function selectHeader(enabled: boolean, name: string): string {
  const chosen = (enabled && name) || defaultAuthHeader;
  if (!tokenPattern.test(chosen)) throw new ApiCompileError('the upstream authentication header name is invalid');
  return chosen;
}

function buildBasicAuth(config: Model['upstreamAuth']): StepHooks {
  const { basicUsername, basicPassword, basicHeaderEnabled, basicHeaderName } = config;
  const header = selectHeader(basicHeaderEnabled, basicHeaderName);
  const value = `Basic ${Buffer.from(`${basicUsername}:${basicPassword}`).toString('base64')}`;
  return {
    request(call) {
      call.headers.set(header, value);
      return undefined;
    },
  };
}

function buildTokenAuth({ model, services }: StepContext<Services, typeof reads>): StepHooks {
  const { client, type } = selectGrant(model);
  const header = selectHeader(client.headerEnabled, client.headerName);
  const tokens = createUpstreamTokens(client, type, services, model.identity.id);

  function applyToken(call: Exchange, token: UpstreamToken | undefined): StepResult {
    if (!token) {
      services.emitEvent('UpstreamOAuthError', call, 'No token for the upstream', { key: call.keyHash });
      return refuse(call, 'upstream_token_missing');
    }
    call.headers.set(header, token.value);
    addTokenMetadata(call, client.extraMetadata, token);
    return undefined;
  }

  return {
    request(call) {
      const token = tokens.get();
      return token instanceof Promise ? token.then(it => applyToken(call, it)) : applyToken(call, token);
    },
    onUpstreamResult(_call, { status }) {
      if (status === 401) tokens.invalidate();
    },
  };
}

/** Adds members of the token response to the context variables. */
function addTokenMetadata(call: Exchange, names: readonly string[], { members }: UpstreamToken): void {
  if (names.length === 0) return;
  call.context ??= {};
  for (const name of names) if (Object.hasOwn(members, name)) call.context[name] = members[name];
}

type Parts = StepContext<Services, typeof reads>['model'];

const grants = {
  clientCredentials: { type: 'client_credentials', clientOf: (model: Parts) => model.upstreamClientCredentials },
  password: { type: 'password', clientOf: (model: Parts) => model.upstreamPassword },
} as const;

function selectGrant(model: Parts) {
  const name = model.upstreamAuth.allowedAuthorizeTypes.find(it => Object.hasOwn(grants, it));
  if (!name) throw new ApiCompileError('the upstream OAuth grant type is unknown');
  const { type, clientOf } = grants[name as keyof typeof grants];
  const client = clientOf(model);
  const url = URL.parse(client.tokenUrl);
  if (client.clientId === '' || !url || !/^https?:$/.test(url.protocol))
    throw new ApiCompileError('the upstream OAuth settings have no client id or no token URL');
  return { type, client };
}
