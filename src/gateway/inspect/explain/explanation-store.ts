import type { Clock } from '#base/clock.ts';
import { Lru } from '#base/lru.ts';
import type { Trace } from '../debug/trace.ts';

/** Explanations retained by one thread. */
const maxExplanations = 64;
const explanationTtlMs = 600_000;

export interface ExplanationStore {
  add(id: string, trace: Trace): void;
  /** Undefined when unknown on this thread, or expired. */
  text(id: string): string | undefined;
}

export function createExplanationStore(clock: Clock): ExplanationStore {
  const traces = new Lru<string, { readonly trace: Trace; readonly untilMs: number }>(maxExplanations);
  return {
    add: (id, trace) => traces.set(id, { trace, untilMs: clock.now() + explanationTtlMs }),
    text(id) {
      const found = traces.get(id);
      return found && found.untilMs > clock.now() ? found.trace.text() : undefined;
    },
  };
}
