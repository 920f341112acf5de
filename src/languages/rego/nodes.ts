import type { RegoPosition } from './error.ts';
import type { RegoValue } from './values.ts';

/** Syntax tree of a module. Names are resolved by `check.ts`, in order of appearance. */
export type RegoTerm =
  | { readonly kind: 'constant'; readonly value: RegoValue }
  | RegoName
  | { readonly kind: 'any'; readonly at: RegoPosition }
  | { readonly kind: 'ref'; readonly head: RegoTerm; readonly path: readonly RegoTerm[] }
  | { readonly kind: 'array' | 'set'; readonly items: readonly RegoTerm[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [RegoTerm, RegoTerm])[] }
  | RegoCall;

export interface RegoName {
  readonly kind: 'name';
  readonly name: string;
  readonly at: RegoPosition;
  /** `unbound`: its first use binds it. */
  scope?: 'input' | 'rule' | 'local' | 'unbound';
}

export interface RegoCall {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly RegoTerm[];
  readonly at: RegoPosition;
}

export const comparisons = ['==', '!=', '<', '<=', '>', '>='] as const;
export type RegoComparison = (typeof comparisons)[number];

export type RegoStatement =
  | { readonly kind: 'term'; readonly term: RegoTerm }
  | { readonly kind: 'compare'; readonly sign: RegoComparison; readonly left: RegoTerm; readonly right: RegoTerm }
  | { readonly kind: 'in'; readonly item: RegoTerm; readonly collection: RegoTerm }
  | { readonly kind: 'assign'; readonly name: RegoName; readonly value: RegoTerm }
  | { readonly kind: 'unify'; readonly left: RegoTerm; readonly right: RegoTerm }
  | { readonly kind: 'some'; readonly names: readonly RegoName[] }
  | {
      readonly kind: 'some in';
      readonly key: RegoName | undefined;
      readonly value: RegoName | undefined;
      readonly collection: RegoTerm;
    }
  | { readonly kind: 'not'; readonly statement: RegoStatement };

/** One definition of a rule; several of one name add up. */
export interface RegoRule {
  readonly kind: 'complete' | 'set' | 'function';
  readonly name: string;
  readonly at: RegoPosition;
  readonly params: readonly RegoTerm[];
  /** Value of the rule, or member of the set. */
  readonly value: RegoTerm;
  readonly body: readonly RegoStatement[];
}

export interface RegoSyntax {
  readonly rules: readonly RegoRule[];
  readonly defaults: ReadonlyMap<string, { readonly value: RegoTerm; readonly at: RegoPosition }>;
}
