/** Result of differential fuzzing of an HTTP/1.1 parser against Node's. */
export interface FuzzResult {
  readonly cases: number;
  /** Cases in which both parsers read at least one complete message. */
  readonly accepted: number;
  readonly refused: number;
  /** Refusals of what Node accepts, counted by their text. */
  readonly stricter: ReadonlyMap<string, number>;
  readonly disagreements: readonly Disagreement[];
}

interface Disagreement {
  readonly text: string;
  readonly segments: readonly number[];
  readonly why: string;
}

/** One mutated message, read by both parsers. */
export interface FuzzCase {
  readonly segments: readonly Buffer[];
  /** Outcome of the gateway's parser. */
  readonly outcome: 'accepted' | 'refused' | 'incomplete';
  /** Refusal of what Node accepts. */
  readonly stricterReason?: string | undefined;
  /** The reason of a disagreement; empty without one. */
  readonly why: string;
}

const maxDisagreements = 10;

/** Runs cases up to `count`, or until there are enough disagreements. */
export function runFuzz(count: number, runCase: () => FuzzCase): FuzzResult {
  const stricter = new Map<string, number>();
  const disagreements: Disagreement[] = [];
  let accepted = 0;
  let refused = 0;
  let cases = 0;
  while (cases < count && disagreements.length < maxDisagreements) {
    cases++;
    const { segments, outcome, stricterReason, why } = runCase();
    if (outcome === 'accepted') accepted++;
    if (outcome === 'refused') refused++;
    if (stricterReason !== undefined) stricter.set(stricterReason, (stricter.get(stricterReason) ?? 0) + 1);
    if (why === '') continue;
    const text = Buffer.concat(segments).toString('latin1');
    disagreements.push({ text, segments: segments.map(({ length }) => length), why });
  }
  return { cases, accepted, refused, stricter, disagreements };
}
