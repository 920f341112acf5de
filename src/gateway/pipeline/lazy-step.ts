import type { Step, StepContext, StepReads } from './step.ts';

/** A step whose code is not loaded yet. */
interface LazyStep<Services, Reads extends StepReads> {
  /** Name and parts are those of the step itself: its chain and its settings are listed without its code. */
  readonly name: string;
  readonly reads: Reads;
  /** True for a definition that uses the step. */
  readonly isUsed: (context: StepContext<Services, Reads>) => boolean;
  readonly load: () => Step<Services, Reads>;
}

/** A step whose code the first definition that uses it loads: every thread holds the code that it loads. */
export function createLazyStep<Services, const Reads extends StepReads>({
  name,
  reads,
  isUsed,
  load,
}: LazyStep<Services, Reads>): Step<Services, Reads> {
  const build = (context: StepContext<Services, Reads>) => (isUsed(context) ? load().build(context) : undefined);
  return { name, reads, build } as Step<Services, Reads>;
}
