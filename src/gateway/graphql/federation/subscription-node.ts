import type { FetchNode, PlanNode } from '@graphql-hive/router-query-planner';

/** The fetch that subscribes: the first of the plan of a subscription; undefined where a condition leaves it out. */
export function findSubscription(node: PlanNode, variables: Readonly<Record<string, unknown>>): FetchNode | undefined {
  switch (node.kind) {
    case 'Subscription':
      return node.primary;
    case 'Sequence':
      return node.nodes[0] && findSubscription(node.nodes[0], variables);
    case 'Condition': {
      const next = variables[node.condition] === true ? node.ifClause : node.elseClause;
      return next && findSubscription(next, variables);
    }
    default:
      return undefined;
  }
}
