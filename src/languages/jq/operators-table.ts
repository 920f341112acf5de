import type { JqNode } from './nodes.ts';

export interface Operator {
  /** Higher binds tighter. */
  readonly precedence: number;
  readonly associativity: 'left' | 'right' | 'none';
  buildNode(left: JqNode, right: JqNode, operator: string): JqNode;
}

type Pair = Extract<JqNode, { left: JqNode; right: JqNode }>['kind'];

const buildPair = (kind: Exclude<Pair, 'binary' | 'assign'>): Operator['buildNode'] => {
  return (left, right) => ({ kind, left, right });
};
const buildWithOperator = (kind: 'binary' | 'assign'): Operator['buildNode'] => {
  return (left, right, operator) => ({ kind, operator, left, right });
};

const defineOperators = (
  signs: string,
  precedence: number,
  associativity: Operator['associativity'],
  buildNode: Operator['buildNode'],
) => signs.split(' ').map(sign => [sign, { precedence, associativity, buildNode }] as const);

/** Every binary operator, by its token. */
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
