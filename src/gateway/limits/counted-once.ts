import type { Exchange } from '../pipeline/exchange.ts';

/**
 * A call of a tool passes two chains, that of the MCP proxy and that of the REST API: a counter that both name, such as
 * the rate of the key, counts it once. Returns true where the first chain has counted, and remembers the counter else.
 */
export function isAlreadyCounted({ countedNames }: Exchange, name: string): boolean {
  if (countedNames === undefined) return false;
  if (countedNames.has(name)) return true;
  countedNames.add(name);
  return false;
}
