import type { Budget } from './budget.ts';
import { TemplateFault } from './error.ts';
import { and, or } from './functions/logic.ts';
import type { Call, List, Node, Operand, Pipe } from './nodes.ts';
import type { Definition } from './parser.ts';
import { isMap, isNothing, isTrue, memberOf, printed, sortedNames, typeName } from './values.ts';

export interface Rendering {
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly budget: Budget;
  /** Applied to what actions print; text between them stays as it is. */
  readonly escaping: ((text: string) => string) | undefined;
  /** Handed to the places in the text that are filled in. */
  readonly about: unknown;
}

type Variables = unknown[];
/** How a list was left: at its end, or because the loop around it is to stop or to go on. */
type Left = undefined | 'break' | 'continue';
/** The only other part of a pipeline that counts: the value that came before. */
const nothingBefore = Symbol('nothing before');

export function evaluate(rendering: Rendering, data: unknown): string {
  const { definitions, budget, escaping, about } = rendering;
  const out: string[] = [];

  function enter(name: string, dot: unknown): void {
    const { body, slots } = definitions.get(name)!;
    const variables: Variables = new Array(slots);
    variables[0] = dot;
    budget.descend();
    walk(body, dot, variables);
    budget.ascend();
  }

  function walk(list: List, dot: unknown, variables: Variables): Left {
    budget.nest();
    let left: Left;
    for (let at = 0; at < list.length && left === undefined; at++) left = visit(list[at]!, dot, variables);
    budget.unnest();
    return left;
  }

  function visit(node: Node, dot: unknown, variables: Variables): Left {
    budget.spend(1);
    switch (node.kind) {
      case 'text':
        return write(node.text, node.bytes);
      case 'filled': {
        const text = node.fill(about);
        return write(text, Buffer.byteLength(text));
      }
      case 'action': {
        const value = assigned(node.pipe, dot, variables);
        return node.pipe.slots.length > 0 ? undefined : print(value);
      }
      case 'if':
      case 'with': {
        const value = assigned(node.pipe, dot, variables);
        if (isTrue(value)) return walk(node.body, node.kind === 'with' ? value : dot, variables);
        return node.otherwise && walk(node.otherwise, dot, variables);
      }
      case 'range':
        return range(node, dot, variables);
      case 'template':
        return enter(node.name, node.pipe && assigned(node.pipe, dot, variables)) as undefined;
      default:
        return node.kind;
    }
  }

  function range(node: Extract<Node, { kind: 'range' }>, dot: unknown, variables: Variables): Left {
    const value = piped(node.pipe, dot, variables);
    const { slots, line } = node.pipe;
    let count = 0;
    /** True to go on. */
    const once = (index: unknown, element: unknown): boolean => {
      count++;
      budget.spend(1);
      if (slots.length > 0) variables[slots.at(-1)!] = element;
      if (slots.length > 1) variables[slots[0]!] = index;
      return walk(node.body, element, variables) !== 'break';
    };
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length && once(at, value[at]); at++);
    } else if (isMap(value)) {
      for (const name of sortedNames(value, budget)) if (!once(name, value[name])) break;
    } else if (Number.isInteger(value)) {
      for (let at = 0; at < (value as number) && once(at, at); at++);
    } else if (!isNothing(value)) throw new TemplateFault(`range can't iterate over ${typeName(value)}`, line);
    return count === 0 && node.otherwise ? walk(node.otherwise, dot, variables) : undefined;
  }

  function assigned(pipe: Pipe, dot: unknown, variables: Variables): unknown {
    const value = piped(pipe, dot, variables);
    for (const slot of pipe.slots) variables[slot] = value;
    return value;
  }

  function piped({ commands }: Pipe, dot: unknown, variables: Variables): unknown {
    let value: unknown = nothingBefore;
    for (const command of commands)
      value = command.kind === 'call' ? called(command, value, dot, variables) : operand(command, dot, variables);
    return value;
  }

  function operand(given: Operand, dot: unknown, variables: Variables): unknown {
    budget.spend(1);
    switch (given.kind) {
      case 'dot':
        return dot;
      case 'literal':
        return given.value;
      case 'field':
        return along(dot, given.names, given.line);
      case 'variable':
        return along(variables[given.slot], given.names, given.line);
      case 'chain':
        return along(operand(given.of, dot, variables), given.names, given.line);
      case 'call':
        return called(given, nothingBefore, dot, variables);
      case 'pipe': {
        budget.nest();
        const value = assigned(given.pipe, dot, variables);
        budget.unnest();
        return value;
      }
    }
  }

  function called(call: Call, before: unknown, dot: unknown, variables: Variables): unknown {
    const { name, fn, line } = call;
    if (fn === and || fn === or) return decided(call, before, dot, variables);
    const args = call.args.map(arg => operand(arg, dot, variables));
    if (before !== nothingBefore) args.push(before);
    try {
      budget.spend(1);
      for (const arg of args) pay(arg, budget);
      const result = fn(args, budget);
      if (typeof result === 'string') budget.make(result.length);
      else pay(result, budget);
      return result;
    } catch (error) {
      if (error instanceof TemplateFault && error.line === 0)
        throw new TemplateFault(`error calling ${name}: ${error.what}`, line, error.isBound);
      throw error;
    }
  }

  /** `and` and `or` look at no more than they need. */
  function decided({ name, fn, args, line }: Call, before: unknown, dot: unknown, variables: Variables): unknown {
    if (args.length === 0 && before === nothingBefore)
      throw new TemplateFault(`wrong number of args for ${name}: want at least 1 got 0`, line);
    let value: unknown;
    for (const arg of args) {
      value = operand(arg, dot, variables);
      if (isTrue(value) === (fn === or)) return value;
    }
    return before === nothingBefore ? value : before;
  }

  function print(value: unknown): undefined {
    const text = isNothing(value) ? '<no value>' : printed(value, budget);
    const shown = escaping ? escaping(text) : text;
    write(shown, Buffer.byteLength(shown));
  }

  function write(text: string, bytes: number): undefined {
    budget.read(text.length);
    budget.output(bytes);
    out.push(text);
  }

  enter('', data);
  return out.join('');
}

/** Looking at long things costs more than looking at short ones. */
function pay(value: unknown, budget: Budget): void {
  if (typeof value === 'string') budget.read(value.length);
  else if (Array.isArray(value)) budget.spend(value.length >> 4);
}

function along(value: unknown, names: readonly string[], line: number): unknown {
  let at = value;
  for (const name of names) {
    // What is missing has nothing in it either; what is said to be nothing was meant to be something else.
    if (at === undefined) return undefined;
    if (at === null) throw new TemplateFault(`nil pointer evaluating interface {}.${name}`, line);
    if (!isMap(at)) throw new TemplateFault(`can't evaluate field ${name} in type ${typeName(at)}`, line);
    at = memberOf(at, name);
  }
  return at;
}
