import type { Node } from './nodes.ts';

export interface Operator {
  /** The higher, the closer it holds what is beside it. */
  readonly binds: number;
  /** Where a row of them leans. */
  readonly side: 'left' | 'right' | 'none';
  join(left: Node, right: Node, sign: string): Node;
}

type Pair = Extract<Node, { left: Node; right: Node }>['is'];

const pair = (is: Exclude<Pair, 'binary' | 'assign'>): Operator['join'] => {
  return (left, right) => ({ is, left, right });
};
const signed = (is: 'binary' | 'assign'): Operator['join'] => {
  return (left, right, sign) => ({ is, sign, left, right });
};

const row = (signs: string, binds: number, side: Operator['side'], join: Operator['join']) =>
  signs.split(' ').map(sign => [sign, { binds, side, join }] as const);

/** All operators between two filters. */
export const operators: Readonly<Record<string, Operator>> = Object.fromEntries([
  ...row('|', 0, 'right', pair('pipe')),
  ...row(',', 1, 'left', pair('comma')),
  ...row('//', 2, 'right', pair('alternative')),
  ...row('= |= += -= *= /= %= //=', 3, 'none', signed('assign')),
  ...row('or', 4, 'left', pair('or')),
  ...row('and', 5, 'left', pair('and')),
  ...row('== != < <= > >=', 6, 'none', signed('binary')),
  ...row('+ -', 7, 'left', signed('binary')),
  ...row('* / %', 8, 'left', signed('binary')),
]);
