import { regoBuiltins } from './builtins.ts';
import { RegoError, type RegoPosition } from './error.ts';
import type { RegoCall, RegoName, RegoRule, RegoStatement, RegoSyntax, RegoTerm } from './nodes.ts';

/** Definitions of one rule, which all have the same kind and number of parameters. */
export interface RuleSet {
  readonly kind: RegoRule['kind'];
  readonly rules: readonly RegoRule[];
  readonly fallback: RegoTerm | undefined;
}
export type RuleTable = ReadonlyMap<string, RuleSet>;

/**
 * Checks a module and resolves its names. A variable is bound by its first use in a body, in the order of the
 * statements: by `:=`, `=`, `some … in`, or as the index of a reference. Anything else before that is rejected.
 */
export function checkRego({ rules, defaults }: RegoSyntax): RuleTable {
  const table = new Map<string, RuleSet & { readonly rules: RegoRule[] }>();
  for (const rule of rules) {
    const existing = table.get(rule.name);
    if (!existing) {
      table.set(rule.name, { kind: rule.kind, rules: [rule], fallback: defaults.get(rule.name)?.value });
      continue;
    }
    if (existing.kind !== rule.kind || existing.rules[0]!.params.length !== rule.params.length)
      throw new RegoError(`${rule.name} is already defined with another kind or number of parameters`, rule.at);
    existing.rules.push(rule);
  }
  for (const [name, { value, at }] of defaults) {
    if (table.has(name) && table.get(name)!.kind !== 'complete')
      throw new RegoError(`${name} cannot have a default`, at);
    if (!table.has(name)) table.set(name, { kind: 'complete', rules: [], fallback: value });
  }
  const used = new Map<string, Set<string>>();
  for (const rule of rules) {
    const uses = used.get(rule.name) ?? new Set();
    used.set(rule.name, uses);
    new RuleCheck(table, uses).checkRule(rule);
  }
  for (const rule of rules) rejectRecursion(rule, used);
  return table;
}

function rejectRecursion({ name, at }: RegoRule, used: ReadonlyMap<string, ReadonlySet<string>>): void {
  const reached = new Set<string>();
  const pending = [...(used.get(name) ?? [])];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next === name) throw new RegoError(`${name} is recursive`, at);
    if (reached.has(next)) continue;
    reached.add(next);
    pending.push(...(used.get(next) ?? []));
  }
}

/** Scope of one rule. */
class RuleCheck {
  readonly #rules: RuleTable;
  readonly #uses: Set<string>;
  readonly #bound = new Set<string>();
  /** Declared by `some`, and not bound yet. */
  readonly #declared = new Set<string>();
  #isNegated = false;

  constructor(rules: RuleTable, uses: Set<string>) {
    this.#rules = rules;
    this.#uses = uses;
  }

  checkRule({ params, body, value }: RegoRule): void {
    for (const param of params) if (param.kind === 'name') this.#bind(param);
    for (const statement of body) this.#checkStatement(statement);
    this.#checkTerm(value);
  }

  #checkStatement(statement: RegoStatement): void {
    switch (statement.kind) {
      case 'term':
        return this.#checkTerm(statement.term);
      case 'compare':
        this.#checkTerm(statement.left);
        return this.#checkTerm(statement.right);
      case 'in':
        this.#checkTerm(statement.item);
        return this.#checkTerm(statement.collection);
      case 'assign':
        return this.#checkAssign(statement.name, statement.value);
      case 'unify':
        return this.#checkUnify(statement.left, statement.right);
      case 'some':
        for (const name of statement.names) this.#declare(name);
        return;
      case 'some in':
        return this.#checkSomeIn(statement);
      case 'not':
        this.#isNegated = true;
        this.#checkStatement(statement.statement);
        this.#isNegated = false;
    }
  }

  #checkAssign(name: RegoName, value: RegoTerm): void {
    this.#checkTerm(value);
    if (this.#bound.has(name.name)) throw new RegoError(`${name.name} is assigned twice`, name.at);
    this.#bind(name);
  }

  #checkUnify(left: RegoTerm, right: RegoTerm): void {
    if (this.#isUnbound(left)) {
      this.#checkTerm(right);
      this.#bind(left);
    } else if (this.#isUnbound(right)) {
      this.#checkTerm(left);
      this.#bind(right);
    } else {
      this.#checkTerm(left);
      this.#checkTerm(right);
    }
  }

  #checkSomeIn({ key, value, collection }: RegoStatement & { kind: 'some in' }): void {
    this.#checkTerm(collection);
    if (key && key.name === value?.name) throw new RegoError(`${key.name} is declared twice`, value.at);
    for (const name of [key, value]) {
      if (!name) continue;
      if (this.#bound.has(name.name)) throw new RegoError(`${name.name} is declared twice`, name.at);
      this.#bind(name);
    }
  }

  #declare({ name, at }: RegoName): void {
    if (this.#bound.has(name) || this.#declared.has(name)) throw new RegoError(`${name} is declared twice`, at);
    this.#declared.add(name);
  }

  #bind(name: RegoName): void {
    if (name.name === 'input') throw new RegoError('input cannot be a variable', name.at);
    if (this.#isNegated) this.#rejectUnsafe(name.name, name.at);
    name.scope = 'unbound';
    this.#bound.add(name.name);
    this.#declared.delete(name.name);
  }

  #rejectUnsafe(name: string, at: RegoPosition): never {
    throw new RegoError(
      `${name} has no value here${this.#isNegated ? ': a statement behind not cannot give it one' : ''}`,
      at,
    );
  }

  #isUnbound(term: RegoTerm): term is RegoName {
    if (term.kind !== 'name' || term.name === 'input' || this.#bound.has(term.name)) return false;
    return this.#declared.has(term.name) || !this.#rules.has(term.name);
  }

  #checkTerm(term: RegoTerm): void {
    switch (term.kind) {
      case 'constant':
        return;
      case 'any':
        throw new RegoError('_ is only allowed as an index', term.at);
      case 'name':
        return this.#checkName(term);
      case 'ref':
        this.#checkTerm(term.head);
        for (const index of term.path) this.#checkIndex(index);
        return;
      case 'call':
        for (const arg of term.args) this.#checkTerm(arg);
        return this.#checkCall(term);
      case 'object':
        for (const part of term.entries.flat()) this.#checkTerm(part);
        return;
      default:
        for (const item of term.items) this.#checkTerm(item);
    }
  }

  #checkName(term: RegoName): void {
    const { name, at } = term;
    if (name === 'input') term.scope = 'input';
    else if (this.#bound.has(name)) term.scope = 'local';
    else if (this.#declared.has(name) || !this.#rules.has(name)) this.#rejectUnsafe(name, at);
    else {
      if (this.#rules.get(name)!.kind === 'function') throw new RegoError(`${name} is a function: call it`, at);
      term.scope = 'rule';
      this.#uses.add(name);
    }
  }

  /** Iteration: an unbound index runs over all members. */
  #checkIndex(index: RegoTerm): void {
    if (index.kind === 'any') {
      if (this.#isNegated) this.#rejectUnsafe('_', index.at);
    } else if (this.#isUnbound(index)) this.#bind(index);
    else this.#checkTerm(index);
  }

  #checkCall({ name, args, at }: RegoCall): void {
    const rule = this.#rules.get(name);
    const builtin = Object.hasOwn(regoBuiltins, name) ? regoBuiltins[name] : undefined;
    if (rule && rule.kind !== 'function') throw new RegoError(`${name} is not a function`, at);
    if (!rule && !builtin) throw new RegoError(`the function ${name} is not supported`, at);
    const arity = rule ? rule.rules[0]!.params.length : builtin!.arity;
    if (args.length !== arity) throw new RegoError(`${name} takes ${arity} argument${arity === 1 ? '' : 's'}`, at);
    if (rule) this.#uses.add(name);
  }
}
