import type { TemplateFunction } from './functions/fn.ts';

/** What a template is read into. Variables are places on a stack, found once, when the template is read. */
export type Operand =
  | { readonly kind: 'dot' }
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'field'; readonly names: readonly string[]; readonly line: number }
  | { readonly kind: 'variable'; readonly slot: number; readonly names: readonly string[]; readonly line: number }
  | { readonly kind: 'chain'; readonly of: Operand; readonly names: readonly string[]; readonly line: number }
  | { readonly kind: 'pipe'; readonly pipe: Pipe }
  | FunctionCall;

/** A place in the text between actions that is filled in with whatever the rendering is about. */
export type Substitute = (about: unknown) => string;
/** Takes text between actions apart: what stays, and what is filled in. */
export type ParseText = (text: string) => readonly (string | Substitute)[];

export interface FunctionCall {
  readonly kind: 'call';
  readonly name: string;
  readonly fn: TemplateFunction;
  readonly args: readonly Operand[];
  readonly line: number;
}

export interface Pipe {
  /** Where the value goes as well, and whether the action prints nothing for it. */
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
