import type { RegoBudget } from './budget.ts';
import { regoBuiltins } from './builtins.ts';
import type { RuleTable } from './check.ts';
import { RegoError } from './error.ts';
import type { RegoCall, RegoComparison, RegoName, RegoRule, RegoStatement, RegoTerm } from './nodes.ts';
import { compareRego, listEntries, lookUp, type RegoValue, toRegoKey, toRegoSet } from './values.ts';

type Then = (value: RegoValue) => void;
type Bindings = Map<string, RegoValue>;

const holds: Readonly<Record<RegoComparison, (order: number) => boolean>> = {
  '==': order => order === 0,
  '!=': order => order !== 0,
  '<': order => order < 0,
  '<=': order => order <= 0,
  '>': order => order > 0,
  '>=': order => order >= 0,
};

/** Thrown to end a search at its first solution. */
const found = Symbol('found');

/**
 * One evaluation of a module: backtracking search. Each term and statement calls `then` once for every solution;
 * bindings are undone behind it. Rules are evaluated once.
 */
export class RegoRun {
  readonly #rules: RuleTable;
  readonly #input: RegoValue;
  readonly #budget: RegoBudget;
  readonly #values = new Map<string, RegoValue | undefined>();

  constructor(rules: RuleTable, input: RegoValue, budget: RegoBudget) {
    this.#rules = rules;
    this.#input = input;
    this.#budget = budget;
  }

  /** Value of a rule without parameters; undefined where no definition holds. */
  evaluateRule(name: string): RegoValue | undefined {
    if (this.#values.has(name)) return this.#values.get(name);
    const { kind, rules, fallback } = this.#rules.get(name)!;
    const value = kind === 'set' ? this.#collectSet(rules) : this.#findValue(name, rules, []);
    const constant = value ?? (fallback && this.#evaluateConstant(fallback));
    this.#values.set(name, constant);
    return constant;
  }

  #evaluateConstant(term: RegoTerm): RegoValue | undefined {
    let result: RegoValue | undefined;
    this.#evaluate(term, new Map(), value => {
      result = value;
    });
    return result;
  }

  #collectSet(rules: readonly RegoRule[]): RegoValue {
    const members: RegoValue[] = [];
    this.#budget.enterCall();
    for (const { body, value } of rules) {
      const bindings: Bindings = new Map();
      this.#solve(body, 0, bindings, () => this.#evaluate(value, bindings, member => members.push(member)));
    }
    this.#budget.leaveCall();
    return toRegoSet(members, this.#budget);
  }

  /** The one value of all definitions that hold; two different ones are an error. */
  #findValue(name: string, rules: readonly RegoRule[], args: readonly RegoValue[]): RegoValue | undefined {
    let result: RegoValue | undefined;
    this.#budget.enterCall();
    for (const { at, params, body, value } of rules) {
      const bindings: Bindings = new Map();
      for (const [index, param] of params.entries()) if (param.kind === 'name') bindings.set(param.name, args[index]!);
      this.#solve(body, 0, bindings, () =>
        this.#evaluate(value, bindings, next => {
          if (result !== undefined && !this.#isEqual(result, next))
            throw new RegoError(`${name} has two different values`, at);
          result = next;
        }),
      );
    }
    this.#budget.leaveCall();
    return result;
  }

  #isEqual(left: RegoValue, right: RegoValue): boolean {
    return compareRego(left, right, this.#budget) === 0;
  }

  #solve(body: readonly RegoStatement[], index: number, bindings: Bindings, then: () => void): void {
    const statement = body[index];
    if (!statement) return then();
    this.#solveStatement(statement, bindings, () => this.#solve(body, index + 1, bindings, then));
  }

  #solveStatement(statement: RegoStatement, bindings: Bindings, then: () => void): void {
    this.#budget.spend(1);
    switch (statement.kind) {
      case 'term':
        return this.#evaluate(statement.term, bindings, value => value !== false && then());
      case 'compare':
        return this.#evaluate(statement.left, bindings, left =>
          this.#evaluate(statement.right, bindings, right => {
            if (holds[statement.sign](compareRego(left, right, this.#budget))) then();
          }),
        );
      case 'in':
        return this.#solveIn(statement, bindings, then);
      case 'assign':
        return this.#evaluate(statement.value, bindings, value => this.#bind(statement.name, value, bindings, then));
      case 'unify':
        return this.#unify(statement.left, statement.right, bindings, then);
      case 'some':
        return then();
      case 'some in':
        return this.#evaluate(statement.collection, bindings, collection => {
          for (const [key, value] of listEntries(collection, this.#budget)) {
            this.#budget.spend(1);
            this.#bind(statement.key, key, bindings, () => this.#bind(statement.value, value, bindings, then));
          }
        });
      case 'not':
        if (!this.#hasSolution(statement.statement, bindings)) then();
    }
  }

  #hasSolution(statement: RegoStatement, bindings: Bindings): boolean {
    try {
      this.#solveStatement(statement, bindings, () => {
        throw found;
      });
      return false;
    } catch (reason) {
      if (reason === found) return true;
      throw reason;
    }
  }

  #solveIn(statement: RegoStatement & { kind: 'in' }, bindings: Bindings, then: () => void): void {
    this.#evaluate(statement.item, bindings, item =>
      this.#evaluate(statement.collection, bindings, collection => {
        const key = toRegoKey(item, this.#budget);
        if (listEntries(collection, this.#budget).some(([, member]) => toRegoKey(member, this.#budget) === key)) then();
      }),
    );
  }

  #bind(name: RegoName | undefined, value: RegoValue, bindings: Bindings, then: () => void): void {
    if (!name) return then();
    bindings.set(name.name, value);
    then();
    bindings.delete(name.name);
  }

  #unify(left: RegoTerm, right: RegoTerm, bindings: Bindings, then: () => void): void {
    if (isUnbound(left)) return this.#evaluate(right, bindings, value => this.#bind(left, value, bindings, then));
    if (isUnbound(right)) return this.#evaluate(left, bindings, value => this.#bind(right, value, bindings, then));
    this.#evaluate(left, bindings, one =>
      this.#evaluate(right, bindings, other => {
        if (this.#isEqual(one, other)) then();
      }),
    );
  }

  #evaluate(term: RegoTerm, bindings: Bindings, then: Then): void {
    this.#budget.spend(1);
    switch (term.kind) {
      case 'constant':
        return then(term.value);
      case 'name': {
        const value = this.#readName(term, bindings);
        return value === undefined ? undefined : then(value);
      }
      case 'ref':
        return this.#evaluate(term.head, bindings, head => this.#follow(head, term.path, 0, bindings, then));
      case 'array':
        return this.#evaluateAll(term.items, [], bindings, then);
      case 'set':
        return this.#evaluateAll(term.items, [], bindings, items => then(toRegoSet(items, this.#budget)));
      case 'object':
        return this.#evaluateObject(term.entries, bindings, then);
      case 'call':
        return this.#evaluateAll(term.args, [], bindings, args => {
          const value = this.#call(term, args);
          if (value !== undefined) then(value);
        });
      case 'any':
        throw new RegoError('_ is only allowed as an index', term.at);
    }
  }

  #readName({ name, scope }: RegoName, bindings: Bindings): RegoValue | undefined {
    if (scope === 'input') return this.#input;
    return scope === 'rule' ? this.evaluateRule(name) : bindings.get(name);
  }

  /** `values` holds the terms before; `then` gets a copy. */
  #evaluateAll(
    terms: readonly RegoTerm[],
    values: RegoValue[],
    bindings: Bindings,
    then: (values: readonly RegoValue[]) => void,
  ): void {
    const term = terms[values.length];
    if (!term) return then([...values]);
    this.#evaluate(term, bindings, value => {
      values.push(value);
      this.#evaluateAll(terms, values, bindings, then);
      values.pop();
    });
  }

  #evaluateObject(entries: readonly (readonly [RegoTerm, RegoTerm])[], bindings: Bindings, then: Then): void {
    this.#evaluateAll(entries.flat(), [], bindings, parts => {
      const names = parts.filter((_part, index) => index % 2 === 0);
      if (!names.every(name => typeof name === 'string')) throw new RegoError('a key of an object must be a text');
      then(Object.fromEntries(names.map((name, index) => [name, parts[index * 2 + 1]!])));
    });
  }

  #follow(value: RegoValue, path: readonly RegoTerm[], index: number, bindings: Bindings, then: Then): void {
    const key = path[index];
    if (!key) return then(value);
    if (key.kind === 'any' || isUnbound(key)) {
      for (const [at, member] of listEntries(value, this.#budget)) {
        this.#budget.spend(1);
        const next = () => this.#follow(member, path, index + 1, bindings, then);
        this.#bind(key.kind === 'name' ? key : undefined, at, bindings, next);
      }
      return;
    }
    this.#evaluate(key, bindings, at => {
      const member = lookUp(value, at, this.#budget);
      if (member !== undefined) this.#follow(member, path, index + 1, bindings, then);
    });
  }

  #call({ name }: RegoCall, args: readonly RegoValue[]): RegoValue | undefined {
    const rule = this.#rules.get(name);
    if (rule) return this.#findValue(name, rule.rules, args);
    return regoBuiltins[name]!.run(args, this.#budget);
  }
}

const isUnbound = (term: RegoTerm): term is RegoName => term.kind === 'name' && term.scope === 'unbound';
