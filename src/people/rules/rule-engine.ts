import { describeError } from '#base/describe-error.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import type { Settings } from '#base/settings.ts';
import { loadRego } from '#languages/lazy-languages.ts';
import { RegoError } from '#languages/rego/error.ts';
import { scanModule } from '#languages/rego/module-text.ts';
import type { RegoModule } from '#languages/rego/rego.ts';
import type { Actor } from '#operations/actor.ts';
import type { AuthorizedRequest } from '#operations/run-operation.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import { problem } from '../problems.ts';
import { DecisionError, decisionRules, readDenial } from './decision.ts';
import { type RuleInput, toRuleInput } from './input.ts';
import { createPolicyAgent } from './policy-agent.ts';

export type RuleEngine = ReturnType<typeof createRuleEngine>;

export interface RuleEngineServices {
  readonly organisations: OrganisationStore;
  readonly outbound: OutboundClient;
  readonly settings: Settings;
  readonly log: Log;
}

const maxCachedModules = 200;

/**
 * Rules of organisations: evaluated by an Open Policy Agent where one is configured, else here, in a subset of its
 * language. A failed evaluation denies the request.
 */
export function createRuleEngine({ organisations, outbound, settings, log }: RuleEngineServices) {
  const modules = new Lru<string, RegoModule>(maxCachedModules);
  const agent = settings['rules.opa_url'] ? createPolicyAgent(outbound, settings, log) : undefined;

  function compile(text: string): RegoModule {
    const module = modules.get(text) ?? loadRego().compileRego(text);
    modules.set(text, module);
    return module;
  }

  async function evaluate(orgId: string, text: string, input: RuleInput): Promise<string[]> {
    if (agent) {
      const { values, ruleNames } = await agent.evaluate(orgId, text, input);
      return readDenial(ruleNames, values);
    }
    const module = compile(text);
    return readDenial(new Set(module.ruleNames), module.evaluate(input, decisionRules));
  }

  const readRules = async (orgId: string): Promise<string> => {
    const { enabled, rules } = (await organisations.get(orgId))?.open_policy ?? {};
    return (enabled && rules) || '';
  };

  return {
    /** True where the agent evaluates rules of the organisation: a request to it takes time. */
    usesAgent: async (orgId: string): Promise<boolean> => agent !== undefined && (await readRules(orgId)) !== '',
    /** Rejects rules that cannot be evaluated. The agent, where there is one, has them afterwards. */
    async check(orgId: string, text: string): Promise<void> {
      try {
        const names = agent ? scanModule(text).ruleNames : new Set(compile(text).ruleNames);
        if (!decisionRules.some(name => names.has(name))) throw problem.rules_without_decision();
      } catch (error) {
        if (error instanceof RegoError) throw problem.rules_invalid({ detail: { reason: error.message } });
        throw error;
      }
      await agent?.load(orgId, text);
    },
    /** Drops rules that were replaced. */
    unload: async (orgId: string, text: string): Promise<void> => agent?.unload(orgId, text),
    /** Rejects a request that the rules of its organisation deny. */
    async enforceForActor(actor: Actor, request: AuthorizedRequest): Promise<void> {
      const { surface, orgId } = actor;
      if (surface !== 'dashboard' || orgId === '') return;
      const rules = await readRules(orgId);
      if (rules === '') return;
      const reasons = await evaluate(orgId, rules, toRuleInput(actor, request)).catch((error: unknown) => {
        if (!(error instanceof RegoError || error instanceof DecisionError)) throw error;
        log.warn({ org: orgId, reason: describeError(error) }, 'organisation rules not evaluated');
        throw problem.rules_unavailable({ detail: { reason: error.message }, cause: error });
      });
      if (reasons.length > 0) throw problem.rules_denied({ detail: { reasons: reasons.join('; ') } });
    },
  };
}
