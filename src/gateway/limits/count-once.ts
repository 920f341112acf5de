import type { Exchange } from '../pipeline/exchange.ts';

/**
 * A call of a tool passes two chains, that of the MCP proxy and that of the REST API: a counter that both name, such as
 * the rate of the key, counts it once. Returns false where the first chain has counted, and remembers the counter else.
 */
export function countOnce({ countedNames }: Exchange, name: string): boolean {
  if (countedNames === undefined) return true;
  if (countedNames.has(name)) return false;
  countedNames.add(name);
  return true;
}
