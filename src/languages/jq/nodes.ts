/** Syntax tree of a filter. */
export type JqNode =
  | { readonly kind: 'identity' | 'recurse' }
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'text'; readonly format: string; readonly parts: readonly (string | JqNode)[] }
  | { readonly kind: 'format'; readonly name: string }
  | { readonly kind: 'index'; readonly of: JqNode; readonly by: JqNode; readonly isOptional?: boolean }
  | {
      readonly kind: 'slice';
      readonly of: JqNode;
      readonly from: JqNode | undefined;
      readonly to: JqNode | undefined;
      readonly isOptional?: boolean;
    }
  | { readonly kind: 'each'; readonly of: JqNode; readonly isOptional?: boolean }
  | { readonly kind: 'array'; readonly of: JqNode | undefined }
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: JqNode, value: JqNode])[] }
  | { readonly kind: 'negative'; readonly of: JqNode }
  | { readonly kind: 'pipe' | 'comma' | 'and' | 'or' | 'alternative'; readonly left: JqNode; readonly right: JqNode }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: JqNode; readonly right: JqNode }
  | { readonly kind: 'assign'; readonly operator: string; readonly left: JqNode; readonly right: JqNode }
  | { readonly kind: 'if'; readonly test: JqNode; readonly yes: JqNode; readonly no: JqNode }
  | { readonly kind: 'try'; readonly body: JqNode; readonly caught: JqNode | undefined }
  | {
      readonly kind: 'reduce';
      readonly source: JqNode;
      readonly patterns: readonly DestructuringPattern[];
      readonly start: JqNode;
      readonly update: JqNode;
    }
  | {
      readonly kind: 'foreach';
      readonly source: JqNode;
      readonly patterns: readonly DestructuringPattern[];
      readonly start: JqNode;
      readonly update: JqNode;
      readonly extract: JqNode;
    }
  | {
      readonly kind: 'bind';
      readonly source: JqNode;
      readonly patterns: readonly DestructuringPattern[];
      readonly body: JqNode;
    }
  | { readonly kind: 'define'; readonly made: JqDefinition; readonly body: JqNode }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly JqNode[] }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'label'; readonly name: string; readonly body: JqNode }
  | { readonly kind: 'break'; readonly name: string };

/** Destructuring pattern: a variable, or an array or object of patterns. */
export type DestructuringPattern =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'items'; readonly items: readonly DestructuringPattern[] }
  | { readonly kind: 'members'; readonly members: readonly MemberPattern[] };

export interface MemberPattern {
  readonly key: JqNode;
  /** Set for `$name`: binds the variable to the member of that name. */
  readonly variable: string | undefined;
  readonly value: DestructuringPattern | undefined;
}

export interface JqDefinition {
  /** Name and arity: `map/1`. */
  readonly name: string;
  /** `f` for a closure, `$x` for a value. */
  readonly params: readonly string[];
  readonly body: JqNode;
}

/** `?` after a path suffix covers that step only: errors before it are raised. */
export const toOptional = (node: JqNode): JqNode =>
  node.kind === 'index' || node.kind === 'slice' || node.kind === 'each'
    ? { ...node, isOptional: true }
    : { kind: 'try', body: node, caught: undefined };
