import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { matchUrl } from '../transform/match-url.ts';
import { compileRewritePattern } from '../transform/rewrite-pattern.ts';
import { compileRewriteTarget } from '../transform/rewrite-target.ts';
import { compileTriggers } from '../transform/triggers.ts';
import type { Captures } from '../transform/url-template.ts';

/** Bytes of a body that triggers search. */
const maxSearchedBodyBytes = 65_536;

type Services = Pick<PipelineServices, 'isContextName' | 'secrets' | 'settings'>;

const reads = { endpoints: ['urlRewrite'], also: { api: ['listen'] } } as const satisfies StepReads;

/**
 * URL rewrite to another path, host or API. Decided here, applied after all steps: endpoint lists match the original
 * path.
 */
export const urlRewriteStep: Step<Services, typeof reads> = {
  name: 'url-rewrite',
  reads,
  build(context) {
    const { version, services } = context;
    const entries = version.endpoints.urlRewrite.map(entry => compileRewrite(entry, context));
    const endpoints = createEndpointMatcher(entries, { ...context, settings: services.settings });
    if (!endpoints) return undefined;
    const maxBytes = services.settings['gateway.max_buffered_body_bytes'];
    return {
      request(call) {
        const rewrite = endpoints.find(call);
        const captures = rewrite && matchUrl(rewrite.pattern, call);
        if (!captures) return undefined;
        if (!rewrite.triggers.needsBody || call.body.isEmpty) return applyRewrite(rewrite, call, captures, '');
        return call.body.read(maxBytes).then(bytes => {
          const body = bytes.subarray(0, maxSearchedBodyBytes).toString('utf8');
          return applyRewrite(rewrite, call, captures, body);
        });
      },
    };
  },
};

type Rewrite = ReturnType<typeof compileRewrite>;
type Entry = StepContext<Services, typeof reads>['version']['endpoints']['urlRewrite'][number];

function compileRewrite(
  { path, method, pattern: source, rewriteTo, triggers }: Entry,
  context: StepContext<Services, typeof reads>,
) {
  const pattern = compileRewritePattern(source, 'a rewrite');
  return {
    path,
    method,
    pattern,
    // Without a target only the triggers rewrite.
    target: rewriteTo === '' ? undefined : compileRewriteTarget(rewriteTo, pattern.groupCount, context),
    triggers: compileTriggers(triggers, pattern.groupCount, context),
  };
}

function applyRewrite({ target, triggers }: Rewrite, call: Exchange, captures: Captures, body: string): StepResult {
  const chosen = triggers.firstTarget(call, body) ?? target;
  const rewrittenTarget = chosen?.(call, captures);
  if (rewrittenTarget === undefined) return undefined;
  if ('fault' in rewrittenTarget) return refuse(call, 'rewrite_refused', { fault: rewrittenTarget.fault });
  call.rewrittenTarget = rewrittenTarget;
  return undefined;
}
