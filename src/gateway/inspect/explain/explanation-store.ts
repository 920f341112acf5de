import type { Clock } from '#base/clock.ts';
import { Lru } from '#base/lru.ts';
import type { Trace } from '../debug/trace.ts';

/** Explanations that can still be read, on one thread. */
const keptMost = 64;
const keptMs = 600_000;

export interface KeptExplanations {
  keep(id: string, trace: Trace): void;
  /** Undefined when nobody here knows it, or no longer. */
  text(id: string): string | undefined;
}

export function keptExplanations(clock: Clock): KeptExplanations {
  const kept = new Lru<string, { readonly trace: Trace; readonly untilMs: number }>(keptMost);
  return {
    keep: (id, trace) => kept.set(id, { trace, untilMs: clock.now() + keptMs }),
    text(id) {
      const found = kept.get(id);
      return found && found.untilMs > clock.now() ? found.trace.text() : undefined;
    },
  };
}
