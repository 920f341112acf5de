/** One thing that is wrong with a value, and where. */
export interface SchemaViolation {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What a check may cost. Beyond it a value counts as refused, however right it may be. */
const defaultMaxSteps = 500_000;
const maxCheckDepth = 1000;
const maxViolations = 100;

/** A check took more steps, or went deeper, than any honest value needs. */
export class BudgetExceeded extends Error {}

/** One value on its way through a schema: where it is, what was found, and how much may still be done. */
export class ValidationRun {
  readonly violations: SchemaViolation[] = [];
  readonly path: (string | number)[] = [];
  /** Above zero while alternatives are tried: what is wrong with one of them is nobody's fault yet. */
  silentDepth = 0;
  depth = 0;
  #left: number;

  constructor(steps = defaultMaxSteps) {
    this.#left = steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetExceeded('the check takes too long');
  }

  enter(): void {
    this.spend(1);
    if (++this.depth > maxCheckDepth) throw new BudgetExceeded('the check goes too deep');
  }

  /** Always false, so that a check can end with it. */
  report(message: string): false {
    if (this.silentDepth === 0 && this.violations.length < maxViolations)
      this.violations.push({ path: [...this.path], message });
    return false;
  }

  /** Whether `check` holds for what is one level below. */
  checkBelow(name: string | number, check: SchemaCheck, value: unknown): boolean {
    this.path.push(name);
    const holds = check(value, this, undefined);
    this.path.pop();
    return holds;
  }

  /** Whether it holds, without telling why not. */
  checkSilently(check: SchemaCheck, value: unknown, evaluated?: Evaluated): boolean {
    this.silentDepth++;
    const holds = check(value, this, evaluated);
    this.silentDepth--;
    return holds;
  }
}

/** Says whether a value fits. `seen` is kept only where something asks what nobody else looked at. */
export type SchemaCheck = (value: unknown, run: ValidationRun, evaluated: Evaluated | undefined) => boolean;

/** Which members and items of one value were looked at by a schema that holds. */
export class Evaluated {
  readonly names = new Set<string>();
  readonly items = new Set<number>();
  allNames = false;
  allItems = false;

  add(other: Evaluated): void {
    for (const name of other.names) this.names.add(name);
    for (const item of other.items) this.items.add(item);
    this.allNames ||= other.allNames;
    this.allItems ||= other.allItems;
  }
}
