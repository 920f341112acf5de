/** One thing that is wrong with a value, and where. */
export interface Fault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What a check may cost. Beyond it a value counts as refused, however right it may be. */
const mostSteps = 500_000;
const mostDepth = 1000;
const mostFaults = 100;

/** A check took more steps, or went deeper, than any honest value needs. */
export class Exhausted extends Error {}

/** One value on its way through a schema: where it is, what was found, and how much may still be done. */
export class Run {
  readonly faults: Fault[] = [];
  readonly path: (string | number)[] = [];
  /** Above zero while alternatives are tried: what is wrong with one of them is nobody's fault yet. */
  quiet = 0;
  depth = 0;
  #left: number;

  constructor(steps = mostSteps) {
    this.#left = steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new Exhausted('the check takes too long');
  }

  enter(): void {
    this.spend(1);
    if (++this.depth > mostDepth) throw new Exhausted('the check goes too deep');
  }

  /** Always false, so that a check can end with it. */
  fault(message: string): false {
    if (this.quiet === 0 && this.faults.length < mostFaults) this.faults.push({ path: [...this.path], message });
    return false;
  }

  /** Whether `check` holds for what is one level below. */
  below(name: string | number, check: Check, value: unknown): boolean {
    this.path.push(name);
    const holds = check(value, this, undefined);
    this.path.pop();
    return holds;
  }

  /** Whether it holds, without telling why not. */
  quietly(check: Check, value: unknown, seen?: Seen): boolean {
    this.quiet++;
    const holds = check(value, this, seen);
    this.quiet--;
    return holds;
  }
}

/** Says whether a value fits. `seen` is kept only where something asks what nobody else looked at. */
export type Check = (value: unknown, run: Run, seen: Seen | undefined) => boolean;

/** Which members and items of one value were looked at by a schema that holds. */
export class Seen {
  readonly names = new Set<string>();
  readonly items = new Set<number>();
  allNames = false;
  allItems = false;

  add(other: Seen): void {
    for (const name of other.names) this.names.add(name);
    for (const item of other.items) this.items.add(item);
    this.allNames ||= other.allNames;
    this.allItems ||= other.allItems;
  }
}
