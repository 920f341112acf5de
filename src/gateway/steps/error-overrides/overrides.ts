import type { Model } from '#definition/model.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { StepServices } from '../../pipeline/step-services.ts';
import type { Api } from '../../routing/api.ts';
import { compileOverrideRules, type OverrideRule, type OverrideRules } from './rules.ts';

/** Other answers in place of errors: the API's own rules before those of the gateway. */
export interface ErrorOverrides {
  /** A refusal of the gateway, about to go out. */
  overrideRefusal(call: Exchange, response: GatewayResponse): void;
  /** An error of the upstream; its body is there where `needsBody` said so. */
  overrideUpstreamError(call: Exchange, response: GatewayResponse): void;
  buffersResponse(status: number): boolean;
}

type OverrideServices = Pick<StepServices, 'settings' | 'log'>;

/** Undefined where there are no rules at all. */
export function createErrorOverrides(
  own: Model['errorOverrides'] | undefined,
  { settings, log }: OverrideServices,
): ErrorOverrides | undefined {
  const templates = settings['templates.directory'];
  const levels = [own?.enabled ? own.rules : {}, settings['gateway.error_overrides']]
    .filter(rules => Object.keys(rules).length > 0)
    .map(rules => compileOverrideRules(rules, templates));
  if (levels.length === 0) return undefined;

  function applyFirstMatch(
    call: Exchange,
    response: GatewayResponse,
    message: string,
    matches: (rule: OverrideRule) => boolean,
  ): void {
    const rule = findRule(levels, response.status, matches);
    try {
      rule?.replacement.apply(call, response, message);
    } catch (error) {
      // An error in other words is still that error: it goes out as it was.
      log.warn({ api: call.api?.id, reason: (error as Error).message }, 'an error override could not be rendered');
    }
  }

  return {
    overrideRefusal(call, response) {
      const message = response.message || (response.body.bytes?.toString() ?? '');
      applyFirstMatch(call, response, message, rule => rule.matchesRefusal(call.errorCode, message));
    },
    overrideUpstreamError(call, response) {
      const { status, body } = response;
      applyFirstMatch(call, response, '', rule => rule.matchesUpstream(status, body.bytes));
    },
    buffersResponse: status => levels.some(level => level.of(status).some(rule => rule.needsBody)),
  };
}

function findRule(levels: readonly OverrideRules[], status: number, matches: (rule: OverrideRule) => boolean) {
  for (const level of levels) for (const rule of level.of(status)) if (matches(rule)) return rule;
  return undefined;
}

/** Looked for when a refusal goes out, and remembered as long as the API is. */
export function createOverridesByApi(services: OverrideServices): (api: Api | undefined) => ErrorOverrides | undefined {
  const general = createErrorOverrides(undefined, services);
  const cache = new WeakMap<Model, { readonly overrides: ErrorOverrides | undefined }>();
  return api => {
    if (!api) return general;
    const { model, unserved } = api;
    // What keeps an API from being served may be its rules.
    const entry = cache.get(model) ?? {
      overrides: unserved ? general : createErrorOverrides(model.errorOverrides, services),
    };
    cache.set(model, entry);
    return entry.overrides;
  };
}
