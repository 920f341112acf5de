import type { Settings } from '#base/settings.ts';
import type { Answer } from '../http/response.ts';
import { order } from '../steps/order.ts';
import type { Exchange } from './exchange.ts';
import type { BodyCopy, Doing, Made, Outcome, Step, StepContext, UpstreamResult } from './step.ts';

/** The steps of one version of an API that have something to do, in order. */
export interface Chain extends Wishes {
  readonly request: readonly NonNullable<Made['request']>[];
  readonly response: readonly NonNullable<Made['response']>[];
  /** Of the steps above, in their order, for whoever tells about them. */
  readonly names: { readonly request: readonly string[]; readonly response: readonly string[] };
}

/** What steps want of upstreams and their answers beyond changing them. */
interface Wishes {
  readonly needsBody: readonly NonNullable<Made['needsBody']>[];
  readonly copy: readonly NonNullable<Made['copy']>[];
  readonly settled: readonly NonNullable<Made['settled']>[];
  readonly ended: readonly NonNullable<Made['ended']>[];
}

/** Of definitions that ask nothing of their own: those share one chain. */
const plain = new WeakMap<Settings, Chain>();

export function buildChain(context: StepContext): Chain {
  const { settings } = context.tools;
  const steps = order.flatMap(({ step }) => {
    const made = step.make(context);
    return made ? [{ step, made }] : [];
  });
  if (!steps.every(({ step }) => step.common)) return chainOf(steps);
  const chain = plain.get(settings) ?? chainOf(steps);
  plain.set(settings, chain);
  return chain;
}

function chainOf(steps: readonly { readonly step: Step; readonly made: Made }[]): Chain {
  function asked<Side extends keyof Made>(side: Side): readonly NonNullable<Made[Side]>[] {
    const list = steps.flatMap(({ made }) => made[side] ?? []);
    return list.length === 0 ? nobody : list;
  }
  const namesOf = (side: keyof Made) => steps.filter(({ made }) => made[side]).map(({ step }) => step.name);
  return {
    request: asked('request'),
    response: asked('response'),
    needsBody: asked('needsBody'),
    copy: asked('copy'),
    settled: asked('settled'),
    ended: asked('ended'),
    names: { request: namesOf('request'), response: namesOf('response') },
  };
}

/** Shared by all chains: with many APIs, what calls of the others have just looked at is close at hand. */
const nobody: readonly never[] = [];

/** Walks the request side. Stays synchronous as long as every step does. */
export function walkRequest({ request }: Pick<Chain, 'request'>, call: Exchange, from = 0): Doing<Outcome> {
  for (let at = from; at < request.length; at++) {
    const outcome = request[at]!(call);
    if (outcome === undefined) continue;
    if (!(outcome instanceof Promise)) return outcome;
    const next = at + 1;
    return outcome.then(value => value ?? walkRequest({ request }, call, next));
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
    const waiting = response[at]!(call, given);
    if (!(waiting instanceof Promise)) continue;
    const next = at + 1;
    return waiting.then(() => walkResponse({ response }, call, given, next));
  }
}

/** Whether a step needs the whole body of this answer. */
export function needsBody({ needsBody: wishes }: Chain, call: Exchange, given: Answer): boolean {
  for (const wish of wishes) if (wish(call, given)) return true;
  return false;
}

/** The copies steps want of this answer; undefined where none does. */
export function copiesOf({ copy: wishes }: Chain, call: Exchange, given: Answer): BodyCopy[] | undefined {
  let copies: BodyCopy[] | undefined;
  for (const wish of wishes) {
    const copy = wish(call, given);
    if (!copy) continue;
    copies ??= [];
    copies.push(copy);
  }
  return copies;
}

export function tellEnded({ ended }: Chain, call: Exchange): void {
  for (const told of ended) told(call);
}

export function tellSettled({ settled }: Chain, call: Exchange, result: UpstreamResult): void {
  for (const told of settled) told(call, result);
}
