import type { Chance } from './chance.ts';
import type { Notation } from './notations.ts';
import type { Bag } from './pieces.ts';

/** What becomes of a document that is imported. */
export type Fate =
  | {
      /** What is called through the gateway; undefined where there is nothing to call. */
      readonly calls: readonly Called[];
      readonly status?: number;
    }
  | { readonly refused: RegExp };

export interface Called {
  readonly path: string;
  readonly method?: string;
  /** Defaults to 200. */
  readonly status?: number;
}

/** A kind of document: each of its variants gives one. */
export interface Maker<V> {
  readonly name: string;
  readonly variants: readonly V[];
  make(variant: V, chance: Chance, at: number): Made;
}

export interface Made {
  /** A text is sent as it is. */
  readonly document: Bag | string;
  readonly fate: Fate;
  /** Defaults to JSON. */
  readonly notation?: Notation;
  readonly query?: Readonly<Record<string, string>>;
  /** The upstream URL is in the servers of the document; else in a parameter. */
  readonly ownServers?: boolean;
  /** Compared with what is read back, where it differs from the document. */
  readonly read?: Bag;
}

/** Keeps the type of a variant between its list and its use, in a table that mixes makers. */
export const maker = <V>(given: Maker<V>): Maker<unknown> => given as Maker<unknown>;
