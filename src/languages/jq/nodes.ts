/** A filter as the parser leaves it. */
export type JqNode =
  | { readonly is: 'identity' | 'recurse' }
  | { readonly is: 'literal'; readonly value: unknown }
  | { readonly is: 'text'; readonly format: string; readonly parts: readonly (string | JqNode)[] }
  | { readonly is: 'format'; readonly name: string }
  | { readonly is: 'index'; readonly of: JqNode; readonly by: JqNode; readonly isOptional?: boolean }
  | {
      readonly is: 'slice';
      readonly of: JqNode;
      readonly from: JqNode | undefined;
      readonly to: JqNode | undefined;
      readonly isOptional?: boolean;
    }
  | { readonly is: 'each'; readonly of: JqNode; readonly isOptional?: boolean }
  | { readonly is: 'array'; readonly of: JqNode | undefined }
  | { readonly is: 'object'; readonly members: readonly (readonly [name: JqNode, value: JqNode])[] }
  | { readonly is: 'negative'; readonly of: JqNode }
  | { readonly is: 'pipe' | 'comma' | 'and' | 'or' | 'alternative'; readonly left: JqNode; readonly right: JqNode }
  | { readonly is: 'binary'; readonly sign: string; readonly left: JqNode; readonly right: JqNode }
  | { readonly is: 'assign'; readonly sign: string; readonly left: JqNode; readonly right: JqNode }
  | { readonly is: 'if'; readonly test: JqNode; readonly yes: JqNode; readonly no: JqNode }
  | { readonly is: 'try'; readonly body: JqNode; readonly caught: JqNode | undefined }
  | {
      readonly is: 'reduce';
      readonly source: JqNode;
      readonly patterns: readonly DestructuringPattern[];
      readonly start: JqNode;
      readonly update: JqNode;
    }
  | {
      readonly is: 'foreach';
      readonly source: JqNode;
      readonly patterns: readonly DestructuringPattern[];
      readonly start: JqNode;
      readonly update: JqNode;
      readonly extract: JqNode;
    }
  | {
      readonly is: 'bind';
      readonly source: JqNode;
      readonly patterns: readonly DestructuringPattern[];
      readonly body: JqNode;
    }
  | { readonly is: 'define'; readonly made: JqDefinition; readonly body: JqNode }
  | { readonly is: 'call'; readonly name: string; readonly args: readonly JqNode[] }
  | { readonly is: 'variable'; readonly name: string }
  | { readonly is: 'label'; readonly name: string; readonly body: JqNode }
  | { readonly is: 'break'; readonly name: string };

/** What a value is taken apart with: a variable, or a shape with variables in it. */
export type DestructuringPattern =
  | { readonly is: 'name'; readonly name: string }
  | { readonly is: 'items'; readonly items: readonly DestructuringPattern[] }
  | { readonly is: 'members'; readonly members: readonly MemberPattern[] };

export interface MemberPattern {
  readonly key: JqNode;
  /** Where the key is itself a variable: what it holds is the member. */
  readonly variable: string | undefined;
  readonly value: DestructuringPattern | undefined;
}

export interface JqDefinition {
  /** With the number of arguments: `map/1`. */
  readonly name: string;
  /** As written: `f`, or `$x` for one that is a value. */
  readonly params: readonly string[];
  readonly body: JqNode;
}

/** `?` after a path suffix covers that one step: errors of what stands before it are raised. */
export const toOptional = (node: JqNode): JqNode =>
  node.is === 'index' || node.is === 'slice' || node.is === 'each'
    ? { ...node, isOptional: true }
    : { is: 'try', body: node, caught: undefined };
