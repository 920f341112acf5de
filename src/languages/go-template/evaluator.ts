import type { TemplateBudget } from './budget.ts';
import { TemplateError } from './error.ts';
import { and, or } from './functions/logic.ts';
import type { FunctionCall, NodeList, Operand, Pipe, TemplateNode } from './nodes.ts';
import type { TemplateDefinition } from './parser.ts';
import { getOwnMember, isMap, isNil, isTrue, printValue, sortNames, typeName } from './values.ts';

export interface Rendering {
  readonly definitions: ReadonlyMap<string, TemplateDefinition>;
  readonly budget: TemplateBudget;
  /** Escapes the output of actions; text between them is written unchanged. */
  readonly escape: ((text: string) => string) | undefined;
  /** Argument of the substitutions in the text between actions. */
  readonly context: unknown;
}

type Variables = unknown[];
/** Control flow after a node list: undefined at its end, else a jump to the loop around it. */
type ListExit = undefined | 'break' | 'continue';
/** Marks the first command of a pipeline, which has no input. */
const noInput = Symbol('nothing before');

export function renderTemplate(rendering: Rendering, data: unknown): string {
  return new TemplateRun(rendering).render(data);
}

/** One rendering of a template: a tree walk that writes to one output. */
class TemplateRun {
  readonly #rendering: Rendering;
  readonly #budget: TemplateBudget;
  readonly #out: string[] = [];

  constructor(rendering: Rendering) {
    this.#rendering = rendering;
    this.#budget = rendering.budget;
  }

  render(data: unknown): string {
    this.#callTemplate('', data);
    return this.#out.join('');
  }

  #callTemplate(name: string, dot: unknown): void {
    const { body, slots } = this.#rendering.definitions.get(name)!;
    const variables: Variables = new Array(slots);
    variables[0] = dot;
    this.#budget.enterCall();
    this.#renderList(body, dot, variables);
    this.#budget.leaveCall();
  }

  #renderList(list: NodeList, dot: unknown, variables: Variables): ListExit {
    this.#budget.enterNode();
    let left: ListExit;
    for (let at = 0; at < list.length && left === undefined; at++) left = this.#renderNode(list[at]!, dot, variables);
    this.#budget.leaveNode();
    return left;
  }

  #renderNode(node: TemplateNode, dot: unknown, variables: Variables): ListExit {
    this.#budget.spend(1);
    switch (node.kind) {
      case 'text':
        return this.#write(node.text, node.bytes);
      case 'filled': {
        const text = node.substitute(this.#rendering.context);
        return this.#write(text, Buffer.byteLength(text));
      }
      case 'action': {
        const value = this.#evaluateAndAssign(node.pipe, dot, variables);
        return node.pipe.slots.length > 0 ? undefined : this.#print(value);
      }
      case 'if':
      case 'with': {
        const value = this.#evaluateAndAssign(node.pipe, dot, variables);
        if (isTrue(value)) return this.#renderList(node.body, node.kind === 'with' ? value : dot, variables);
        return node.otherwise && this.#renderList(node.otherwise, dot, variables);
      }
      case 'range':
        return this.#renderRange(node, dot, variables);
      case 'template':
        return this.#callTemplate(
          node.name,
          node.pipe && this.#evaluateAndAssign(node.pipe, dot, variables),
        ) as undefined;
      default:
        return node.kind;
    }
  }

  #renderRange(node: Extract<TemplateNode, { kind: 'range' }>, dot: unknown, variables: Variables): ListExit {
    const value = this.#evaluatePipe(node.pipe, dot, variables);
    const { slots, line } = node.pipe;
    let count = 0;
    /** Renders one iteration; false after `break`. */
    const iterate = (index: unknown, element: unknown): boolean => {
      count++;
      this.#budget.spend(1);
      if (slots.length > 0) variables[slots.at(-1)!] = element;
      if (slots.length > 1) variables[slots[0]!] = index;
      return this.#renderList(node.body, element, variables) !== 'break';
    };
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length && iterate(at, value[at]); at++);
    } else if (isMap(value)) {
      for (const name of sortNames(value, this.#budget)) if (!iterate(name, value[name])) break;
    } else if (Number.isInteger(value)) {
      for (let at = 0; at < (value as number) && iterate(at, at); at++);
    } else if (!isNil(value)) throw new TemplateError(`range can't iterate over ${typeName(value)}`, line);
    return count === 0 && node.otherwise ? this.#renderList(node.otherwise, dot, variables) : undefined;
  }

  #evaluateAndAssign(pipe: Pipe, dot: unknown, variables: Variables): unknown {
    const value = this.#evaluatePipe(pipe, dot, variables);
    for (const slot of pipe.slots) variables[slot] = value;
    return value;
  }

  #evaluatePipe({ commands }: Pipe, dot: unknown, variables: Variables): unknown {
    let value: unknown = noInput;
    for (const command of commands)
      value =
        command.kind === 'call'
          ? this.#callFunction(command, value, dot, variables)
          : this.#evaluateOperand(command, dot, variables);
    return value;
  }

  #evaluateOperand(given: Operand, dot: unknown, variables: Variables): unknown {
    this.#budget.spend(1);
    switch (given.kind) {
      case 'dot':
        return dot;
      case 'literal':
        return given.value;
      case 'field':
        return getFields(dot, given.names, given.line);
      case 'variable':
        return getFields(variables[given.slot], given.names, given.line);
      case 'chain':
        return getFields(this.#evaluateOperand(given.of, dot, variables), given.names, given.line);
      case 'call':
        return this.#callFunction(given, noInput, dot, variables);
      case 'pipe': {
        this.#budget.enterNode();
        const value = this.#evaluateAndAssign(given.pipe, dot, variables);
        this.#budget.leaveNode();
        return value;
      }
    }
  }

  #callFunction(call: FunctionCall, input: unknown, dot: unknown, variables: Variables): unknown {
    const { name, fn, line } = call;
    if (fn === and || fn === or) return this.#evaluateLogical(call, input, dot, variables);
    const args = call.args.map(arg => this.#evaluateOperand(arg, dot, variables));
    if (input !== noInput) args.push(input);
    try {
      this.#budget.spend(1);
      for (const arg of args) chargeValue(arg, this.#budget);
      const result = fn(args, this.#budget);
      if (typeof result === 'string') this.#budget.reserveText(result.length);
      else chargeValue(result, this.#budget);
      return result;
    } catch (error) {
      if (error instanceof TemplateError && error.line === 0)
        throw new TemplateError(`error calling ${name}: ${error.reason}`, line, error.isLimitExceeded);
      throw error;
    }
  }

  /** Short-circuit evaluation of `and` and `or`. */
  #evaluateLogical(
    { name, fn, args, line }: FunctionCall,
    input: unknown,
    dot: unknown,
    variables: Variables,
  ): unknown {
    if (args.length === 0 && input === noInput)
      throw new TemplateError(`wrong number of args for ${name}: want at least 1 got 0`, line);
    let value: unknown;
    for (const arg of args) {
      value = this.#evaluateOperand(arg, dot, variables);
      if (isTrue(value) === (fn === or)) return value;
    }
    return input === noInput ? value : input;
  }

  #print(value: unknown): undefined {
    const text = isNil(value) ? '<no value>' : printValue(value, this.#budget);
    const shown = this.#rendering.escape?.(text) ?? text;
    this.#write(shown, Buffer.byteLength(shown));
  }

  #write(text: string, bytes: number): undefined {
    this.#budget.chargeText(text.length);
    this.#budget.chargeOutput(bytes);
    this.#out.push(text);
  }
}

/** Charges an argument or result by its length. */
function chargeValue(value: unknown, budget: TemplateBudget): void {
  if (typeof value === 'string') budget.chargeText(value.length);
  else if (Array.isArray(value)) budget.spend(value.length >> 4);
}

function getFields(value: unknown, names: readonly string[], line: number): unknown {
  let at = value;
  for (const name of names) {
    // A member of a missing value is missing too; a member of an explicit null is an error.
    if (at === undefined) return undefined;
    if (at === null) throw new TemplateError(`nil pointer evaluating interface {}.${name}`, line);
    if (!isMap(at)) throw new TemplateError(`can't evaluate field ${name} in type ${typeName(at)}`, line);
    at = getOwnMember(at, name);
  }
  return at;
}
