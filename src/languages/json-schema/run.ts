import { Budget, type BudgetBounds, type BudgetLimit } from '#base/budget.ts';

/** One violation of a schema, and where in the value. */
export interface SchemaViolation {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

const defaultBounds: BudgetBounds = { maxSteps: 500_000, maxDepth: 1000, maxBytes: Number.POSITIVE_INFINITY };
const maxViolations = 100;

/** The validation exceeded its budget. The value counts as invalid, also where it would have been valid. */
export class BudgetExceeded extends Error {}

/** Validation of one value: its budget, the current path, and the violations so far. */
export class ValidationRun extends Budget {
  readonly violations: SchemaViolation[] = [];
  readonly path: (string | number)[] = [];
  /** Above zero while alternatives are tried: a violation of one of them is none of the value. */
  silentDepth = 0;

  constructor(maxSteps = defaultBounds.maxSteps) {
    super({ ...defaultBounds, maxSteps });
  }

  protected createLimitError(limit: BudgetLimit): BudgetExceeded {
    return new BudgetExceeded(limit === 'depth' ? 'the check goes too deep' : 'the check takes too long');
  }

  /** Starts a schema: one step, one level. */
  enterSchema(): void {
    this.spend(1);
    this.enterCall();
  }

  /** Always false, so that a check can end with it. */
  report(message: string): false {
    if (this.silentDepth === 0 && this.violations.length < maxViolations)
      this.violations.push({ path: [...this.path], message });
    return false;
  }

  /** Checks a member or item of the value. */
  checkBelow(name: string | number, check: SchemaCheck, value: unknown): boolean {
    this.path.push(name);
    const holds = check(value, this, undefined);
    this.path.pop();
    return holds;
  }

  /** Checks without reporting violations. */
  checkSilently(check: SchemaCheck, value: unknown, evaluated?: Evaluated): boolean {
    this.silentDepth++;
    const holds = check(value, this, evaluated);
    this.silentDepth--;
    return holds;
  }
}

/** Checks a value against a compiled schema. `evaluated` is passed only where an `unevaluated…` keyword reads it. */
export type SchemaCheck = (value: unknown, run: ValidationRun, evaluated: Evaluated | undefined) => boolean;

/** Members and items of one value that a valid schema evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
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
