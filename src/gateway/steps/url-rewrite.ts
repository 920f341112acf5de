import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepContext, StepResult } from '../pipeline/step.ts';
import { foundIn } from '../transform/match-url.ts';
import { patternOf } from '../transform/rewrite-pattern.ts';
import { rewriteTarget } from '../transform/rewrite-target.ts';
import { triggersOf } from '../transform/triggers.ts';
import type { Captured } from '../transform/url-template.ts';

/** What a trigger sees of a body. */
const bodyBytesSearched = 65_536;

/**
 * Sends calls of an endpoint to another path, host or API. It is decided here and done when every step has run: lists of
 * endpoints are matched with the path the caller asked for.
 */
export const urlRewrite: Step = {
  name: 'url-rewrite',
  build(context) {
    const { version, services } = context;
    const entries = version.endpoints.urlRewrite.map(entry => rewriteOf(entry, context));
    const endpoints = endpointMatcher(entries, { ...context, settings: services.settings });
    if (!endpoints) return undefined;
    const most = services.settings['gateway.held_body_bytes'];
    return {
      request(call) {
        const rewrite = endpoints.find(call);
        const found = rewrite && foundIn(rewrite.pattern, call);
        if (!found) return undefined;
        if (!rewrite.triggers.needsBody || call.body.isEmpty) return rewritten(rewrite, call, found, '');
        return call.body.read(most).then(bytes => {
          const body = bytes.subarray(0, bodyBytesSearched).toString('utf8');
          return rewritten(rewrite, call, found, body);
        });
      },
    };
  },
};

type Rewrite = ReturnType<typeof rewriteOf>;
type Entry = StepContext['version']['endpoints']['urlRewrite'][number];

function rewriteOf({ path, method, pattern: source, rewriteTo, triggers }: Entry, context: StepContext) {
  const pattern = patternOf(source, 'a rewrite');
  return {
    path,
    method,
    pattern,
    // Whoever writes no target means the triggers only.
    target: rewriteTo === '' ? undefined : rewriteTarget(rewriteTo, pattern.groups, context),
    triggers: triggersOf(triggers, pattern.groups, context),
  };
}

function rewritten({ target, triggers }: Rewrite, call: Exchange, found: Captured, body: string): StepResult {
  const chosen = triggers.first(call, body) ?? target;
  const place = chosen?.(call, found);
  if (place === undefined) return undefined;
  if ('fault' in place) return refuse(call, 'rewrite_refused', { fault: place.fault });
  call.rewrittenTarget = place;
  return undefined;
}
