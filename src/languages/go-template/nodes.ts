import type { TemplateFunction } from './functions/fn.ts';

/** Syntax tree of a template. Variables are stack slots, resolved at parse time. */
export type Operand =
  | { readonly kind: 'dot' }
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'field'; readonly names: readonly string[]; readonly line: number }
  | { readonly kind: 'variable'; readonly slot: number; readonly names: readonly string[]; readonly line: number }
  | { readonly kind: 'chain'; readonly of: Operand; readonly names: readonly string[]; readonly line: number }
  | { readonly kind: 'pipe'; readonly pipe: Pipe }
  | FunctionCall;

/** Substitution in the text between actions, by the context of the rendering. */
export type Substitute = (about: unknown) => string;
/** Splits text between actions into literal parts and substitutions. */
export type ParseText = (text: string) => readonly (string | Substitute)[];

export interface FunctionCall {
  readonly kind: 'call';
  readonly name: string;
  readonly fn: TemplateFunction;
  readonly args: readonly Operand[];
  readonly line: number;
}

export interface Pipe {
  /** Variables that the value is assigned to; an action with any prints nothing. */
  readonly slots: readonly number[];
  readonly commands: readonly Operand[];
  readonly line: number;
}

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string; readonly bytes: number }
  | { readonly kind: 'filled'; readonly substitute: Substitute }
  | { readonly kind: 'action'; readonly pipe: Pipe }
  | {
      readonly kind: 'if' | 'with';
      readonly pipe: Pipe;
      readonly body: NodeList;
      readonly otherwise: NodeList | undefined;
    }
  | { readonly kind: 'range'; readonly pipe: Pipe; readonly body: NodeList; readonly otherwise: NodeList | undefined }
  | { readonly kind: 'template'; readonly name: string; readonly pipe: Pipe | undefined; readonly line: number }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' };

export type NodeList = readonly TemplateNode[];
