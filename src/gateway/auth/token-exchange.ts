import { loadJose } from '#base/lazy-packages.ts';
import { compileRegex } from '#base/regex.ts';
import { issuerRegexPrefix, validateOauth2 } from '#definition/oauth2-validation.ts';
import { removeCookie } from '../http/cookies.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { ApiCompileError, type Step, type StepContext, type StepReads } from '../pipeline/step.ts';
import { deny } from './auth-result.ts';
import { getBearerSources } from './bearer-token.ts';
import { removeQueryParameter } from './credential-sources.ts';
import type { AuthServices } from './services.ts';
import type { ExchangeProvider, ExchangeTarget } from './token-exchange-request.ts';
import { createTokenExchanger, type ExchangeResult, type ExchangeServices } from './token-exchanger.ts';

interface ProviderExchanger {
  readonly provider: ExchangeProvider;
  exchange(call: Exchange, target: ExchangeTarget): ReturnType<ReturnType<typeof createTokenExchanger>>;
}

type Services = Pick<AuthServices, 'emitEvent' | 'settings'> & ExchangeServices;

const reads = {
  api: ['oauth2'],
  endpoints: ['exchange'],
  also: { api: ['authentication', 'mcp', 'upstream'] },
} as const satisfies StepReads;

/** Token exchange: replaces the client's token by one for the upstream. */
export const tokenExchangeStep: Step<Services, typeof reads> = {
  name: 'token-exchange',
  reads,
  build(context) {
    const { model, version, services } = context;
    const { enabled, exchangeEnabled } = model.oauth2;
    if (!enabled || !exchangeEnabled || !model.authentication.enabled) return undefined;
    const [fault] = validateOauth2(model.oauth2, { isMcp: model.mcp !== null, upstreamUrl: model.upstream.url });
    if (fault) throw new ApiCompileError(`${fault.path} ${fault.message}`);
    const selectProvider = createProviderSelector(context);
    const targets = createEndpointMatcher(version.endpoints.exchange, { model, version, settings: services.settings });
    const replaceToken = createTokenReplacer(context);

    function finish(call: Exchange, exchanged: ExchangeResult): StepResult {
      if (exchanged === 'refused' || exchanged === 'failed')
        return deny(services, call, `exchange_${exchanged}`, call.keyHash, 'Token exchange failed');
      if (exchanged.isNew)
        services.emitEvent('OAuth2ExchangeSucceeded', call, 'Token exchange succeeded', { key: call.keyHash });
      replaceToken(call, exchanged.token);
      return undefined;
    }

    return {
      request(call) {
        if (call.skipsAuth || call.bearerToken === '') return undefined;
        const exchanger = selectProvider(readIssuer(call));
        if (!exchanger) return deny(services, call, 'exchange_issuer_unknown', call.keyHash, 'Token exchange failed');
        const { provider } = exchanger;
        const own = targets?.find(call);
        const target = own
          ? {
              audience: own.audience || provider.audience,
              scopes: own.scopes.length > 0 ? own.scopes : provider.scopes,
            }
          : provider;
        const exchanged = exchanger.exchange(call, target);
        return exchanged instanceof Promise ? exchanged.then(it => finish(call, it)) : finish(call, exchanged);
      },
    };
  },
};

/** Selects a provider by issuer: exact match, then pattern, then the provider without issuers. */
function createProviderSelector(
  context: StepContext<Services, typeof reads>,
): (issuer: string) => ProviderExchanger | undefined {
  const all = context.model.oauth2.providers.map(provider => ({
    provider,
    exchange: createTokenExchanger(provider, context),
  }));
  const byIssuer = new Map<string, ProviderExchanger>();
  const patterns: { readonly fits: (issuer: string) => boolean; readonly exchanger: ProviderExchanger }[] = [];
  for (const exchanger of all)
    for (const issuer of exchanger.provider.issuers) {
      if (!issuer.startsWith(issuerRegexPrefix)) byIssuer.set(issuer, exchanger);
      else {
        const compiled = compileRegex(issuer.slice(issuerRegexPrefix.length));
        patterns.push({ fits: text => compiled.matches(text), exchanger });
      }
    }
  const fallback = all.find(({ provider }) => provider.issuers.length === 0);
  return issuer => byIssuer.get(issuer) ?? patterns.find(({ fits }) => fits(issuer))?.exchanger ?? fallback;
}

/** The issuer may be unverified: it only selects the provider, which verifies the token. */
function readIssuer({ verifiedToken, bearerToken }: Exchange): string {
  const { iss } = verifiedToken?.claims ?? decodeUnverified(bearerToken);
  return typeof iss === 'string' ? iss : '';
}

function decodeUnverified(text: string): Readonly<Record<string, unknown>> {
  try {
    return loadJose().decodeJwt(text);
  } catch (error) {
    if (error instanceof loadJose().errors.JWTInvalid) return {};
    throw error;
  }
}

/** Removes the client's token from all its sources. */
function createTokenReplacer({ model }: StepContext<Services, typeof reads>): (call: Exchange, token: string) => void {
  const { header, query, cookie } = getBearerSources(model);
  return (call, token) => {
    if (header !== '') call.headers.remove(header);
    if (query !== '') call.query = removeQueryParameter(call.query, query);
    if (cookie !== '') removeCookie(call.headers, cookie);
    call.headers.set('Authorization', `Bearer ${token}`);
  };
}
