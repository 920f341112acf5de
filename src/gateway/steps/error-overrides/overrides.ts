import type { Model } from '#definition/model.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { ApiInfo } from '../../pipeline/api-info.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { StepServices } from '../step-services.ts';
import { compileOverrideRules, type OverrideRule, type OverrideRules } from './rules.ts';

/** Error overrides: rules of the API before those of the gateway. */
export interface ErrorOverrides {
  /** Overrides an error of the gateway before it is written. */
  overrideRefusal(call: Exchange, response: GatewayResponse): void;
  /** Overrides an upstream error; its body is present where `buffersResponse` returned true. */
  overrideUpstreamError(call: Exchange, response: GatewayResponse): void;
  buffersResponse(status: number): boolean;
}

type OverrideServices = Pick<StepServices, 'settings' | 'log'>;

/** Undefined without rules. */
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
      // The override is optional: the original error is sent.
      log.warn({ api: call.api?.id, reason: (error as Error).message }, 'error override failed, original error sent');
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

/** Error overrides by API, created on first use and cached with its model. */
export function createOverridesByApi(
  services: OverrideServices,
): (api: ApiInfo | undefined) => ErrorOverrides | undefined {
  const general = createErrorOverrides(undefined, services);
  const cache = new WeakMap<Model, { readonly overrides: ErrorOverrides | undefined }>();
  return api => {
    if (!api) return general;
    const { model, unavailableReason: unserved } = api;
    // The rules themselves may be why the API cannot be compiled.
    const entry = cache.get(model) ?? {
      overrides: unserved ? general : createErrorOverrides(model.errorOverrides, services),
    };
    cache.set(model, entry);
    return entry.overrides;
  };
}
