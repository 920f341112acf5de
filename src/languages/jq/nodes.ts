/** A filter as the parser leaves it. */
export type Node =
  | { readonly is: 'identity' | 'recurse' }
  | { readonly is: 'literal'; readonly value: unknown }
  | { readonly is: 'text'; readonly format: string; readonly parts: readonly (string | Node)[] }
  | { readonly is: 'format'; readonly name: string }
  | { readonly is: 'index'; readonly of: Node; readonly by: Node; readonly isOptional?: boolean }
  | {
      readonly is: 'slice';
      readonly of: Node;
      readonly from: Node | undefined;
      readonly to: Node | undefined;
      readonly isOptional?: boolean;
    }
  | { readonly is: 'each'; readonly of: Node; readonly isOptional?: boolean }
  | { readonly is: 'array'; readonly of: Node | undefined }
  | { readonly is: 'object'; readonly members: readonly (readonly [name: Node, value: Node])[] }
  | { readonly is: 'negative'; readonly of: Node }
  | { readonly is: 'pipe' | 'comma' | 'and' | 'or' | 'alternative'; readonly left: Node; readonly right: Node }
  | { readonly is: 'binary'; readonly sign: string; readonly left: Node; readonly right: Node }
  | { readonly is: 'assign'; readonly sign: string; readonly left: Node; readonly right: Node }
  | { readonly is: 'if'; readonly test: Node; readonly yes: Node; readonly no: Node }
  | { readonly is: 'try'; readonly body: Node; readonly caught: Node | undefined }
  | {
      readonly is: 'reduce';
      readonly source: Node;
      readonly patterns: readonly Pattern[];
      readonly start: Node;
      readonly update: Node;
    }
  | {
      readonly is: 'foreach';
      readonly source: Node;
      readonly patterns: readonly Pattern[];
      readonly start: Node;
      readonly update: Node;
      readonly extract: Node;
    }
  | { readonly is: 'bind'; readonly source: Node; readonly patterns: readonly Pattern[]; readonly body: Node }
  | { readonly is: 'define'; readonly made: Definition; readonly body: Node }
  | { readonly is: 'call'; readonly name: string; readonly args: readonly Node[] }
  | { readonly is: 'variable'; readonly name: string }
  | { readonly is: 'label'; readonly name: string; readonly body: Node }
  | { readonly is: 'break'; readonly name: string };

/** What a value is taken apart with: a variable, or a shape with variables in it. */
export type Pattern =
  | { readonly is: 'name'; readonly name: string }
  | { readonly is: 'items'; readonly items: readonly Pattern[] }
  | { readonly is: 'members'; readonly members: readonly MemberPattern[] };

export interface MemberPattern {
  readonly key: Node;
  /** Where the key is itself a variable: what it holds is the member. */
  readonly variable: string | undefined;
  readonly value: Pattern | undefined;
}

export interface Definition {
  /** With the number of arguments: `map/1`. */
  readonly name: string;
  /** As written: `f`, or `$x` for one that is a value. */
  readonly params: readonly string[];
  readonly body: Node;
}

/** `?` after a path suffix covers that one step: errors of what stands before it are raised. */
export const optional = (node: Node): Node =>
  node.is === 'index' || node.is === 'slice' || node.is === 'each'
    ? { ...node, isOptional: true }
    : { is: 'try', body: node, caught: undefined };
