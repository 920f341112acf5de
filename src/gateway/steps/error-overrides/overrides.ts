import type { Model } from '#definition/model.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { StepServices } from '../../pipeline/step-services.ts';
import type { Api } from '../../routing/api.ts';
import { type Override, type OverrideRules, overrideRules } from './rules.ts';

/** Other answers in place of errors: the API's own rules before those of the gateway. */
export interface Overrides {
  /** A refusal of the gateway, about to go out. */
  refusal(call: Exchange, response: GatewayResponse): void;
  /** An error of the upstream; its body is there where `needsBody` said so. */
  upstream(call: Exchange, response: GatewayResponse): void;
  needsBody(status: number): boolean;
}

type Tools = Pick<StepServices, 'settings' | 'log'>;

/** Undefined where there are no rules at all. */
export function overridesOf(own: Model['errorOverrides'] | undefined, { settings, log }: Tools): Overrides | undefined {
  const templates = settings['templates.directory'];
  const levels = [own?.enabled ? own.rules : {}, settings['gateway.error_overrides']]
    .filter(rules => Object.keys(rules).length > 0)
    .map(rules => overrideRules(rules, templates));
  if (levels.length === 0) return undefined;

  function replaced(
    call: Exchange,
    response: GatewayResponse,
    message: string,
    fits: (rule: Override) => boolean,
  ): void {
    const rule = first(levels, response.status, fits);
    try {
      rule?.replacement.apply(call, response, message);
    } catch (error) {
      // An error in other words is still that error: it goes out as it was.
      log.warn({ api: call.api?.id, reason: (error as Error).message }, 'an error override could not be rendered');
    }
  }

  return {
    refusal(call, response) {
      const message = response.message || (response.body.bytes?.toString() ?? '');
      replaced(call, response, message, rule => rule.fitsRefusal(call.errorCode, message));
    },
    upstream(call, response) {
      const { status, body } = response;
      replaced(call, response, '', rule => rule.fitsUpstream(status, body.bytes));
    },
    needsBody: status => levels.some(level => level.of(status).some(rule => rule.needsBody)),
  };
}

function first(levels: readonly OverrideRules[], status: number, fits: (rule: Override) => boolean) {
  for (const level of levels) for (const rule of level.of(status)) if (fits(rule)) return rule;
  return undefined;
}

/** Looked for when a refusal goes out, and remembered as long as the API is. */
export function overridesByApi(services: Tools): (api: Api | undefined) => Overrides | undefined {
  const general = overridesOf(undefined, services);
  const known = new WeakMap<Model, { readonly found: Overrides | undefined }>();
  return api => {
    if (!api) return general;
    const { model, unserved } = api;
    // What keeps an API from being served may be its rules.
    const it = known.get(model) ?? { found: unserved ? general : overridesOf(model.errorOverrides, services) };
    known.set(model, it);
    return it.found;
  };
}
