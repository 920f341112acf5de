import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { order } from './order.ts';
import type { Doing, Made, Outcome, StepContext } from './step.ts';

/** The steps of one version of an API that have something to do, in order. */
export interface Chain {
  readonly request: readonly { readonly name: string; run(call: Exchange): Doing<Outcome> }[];
  readonly response: readonly { readonly name: string; run(call: Exchange, given: Answer): Doing<void> }[];
}

export function buildChain(context: StepContext): Chain {
  const made = order.map(({ step }) => ({ name: step.name, made: step.make(context) }));
  const asked = (side: keyof Made) => made.filter(it => it.made?.[side]);
  return {
    request: asked('request').map(it => ({ name: it.name, run: call => it.made!.request!(call) })),
    response: asked('response').map(it => ({ name: it.name, run: (call, given) => it.made!.response!(call, given) })),
  };
}

/** Walks the request side. Stays synchronous as long as every step does. */
export function walkRequest({ request }: Chain, call: Exchange, from = 0): Doing<Outcome> {
  for (let at = from; at < request.length; at++) {
    const outcome = request[at]!.run(call);
    if (outcome === undefined) continue;
    if (!(outcome instanceof Promise)) return outcome;
    const next = at + 1;
    return outcome.then(value => value ?? walkRequest({ request, response: [] }, call, next));
  }
  return undefined;
}

/** Walks the response side over an answer, whoever gave it. */
export function walkResponse(
  { response }: Pick<Chain, 'response'>,
  call: Exchange,
  given: Answer,
  from = 0,
): Doing<void> {
  for (let at = from; at < response.length; at++) {
    const waiting = response[at]!.run(call, given);
    if (!(waiting instanceof Promise)) continue;
    const next = at + 1;
    return waiting.then(() => walkResponse({ response }, call, given, next));
  }
}
