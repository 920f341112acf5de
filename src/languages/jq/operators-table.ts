import type { JqNode } from './nodes.ts';

export interface Operator {
  /** The higher, the closer it holds what is beside it. */
  readonly binds: number;
  /** Where a row of them leans. */
  readonly side: 'left' | 'right' | 'none';
  join(left: JqNode, right: JqNode, sign: string): JqNode;
}

type Pair = Extract<JqNode, { left: JqNode; right: JqNode }>['is'];

const buildPair = (is: Exclude<Pair, 'binary' | 'assign'>): Operator['join'] => {
  return (left, right) => ({ is, left, right });
};
const buildWithOperator = (is: 'binary' | 'assign'): Operator['join'] => {
  return (left, right, sign) => ({ is, sign, left, right });
};

const defineOperators = (signs: string, binds: number, side: Operator['side'], join: Operator['join']) =>
  signs.split(' ').map(sign => [sign, { binds, side, join }] as const);

/** All operators between two filters. */
export const operators: Readonly<Record<string, Operator>> = Object.fromEntries([
  ...defineOperators('|', 0, 'right', buildPair('pipe')),
  ...defineOperators(',', 1, 'left', buildPair('comma')),
  ...defineOperators('//', 2, 'right', buildPair('alternative')),
  ...defineOperators('= |= += -= *= /= %= //=', 3, 'none', buildWithOperator('assign')),
  ...defineOperators('or', 4, 'left', buildPair('or')),
  ...defineOperators('and', 5, 'left', buildPair('and')),
  ...defineOperators('== != < <= > >=', 6, 'none', buildWithOperator('binary')),
  ...defineOperators('+ -', 7, 'left', buildWithOperator('binary')),
  ...defineOperators('* / %', 8, 'left', buildWithOperator('binary')),
]);
