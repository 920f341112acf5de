import { isIPv6 } from 'node:net';
import { getByPath } from '#base/json.ts';
import type { Model } from '#definition/model.ts';

/** How the answer of a registry is read. */
export type DiscoveryRules = Model['serviceDiscovery'];

/** Of a longer list only the first are used. */
export const hostsTaken = 1000;

/** The answer is not what the definition says it is. The words are for the log, and repeat nothing of the answer. */
export class UnreadableAnswer extends Error {}

/** What a registry says: `host[:port]` with the path of the definition behind it, one for each item that can be read. */
export function hostsIn(text: string, rules: DiscoveryRules): string[] {
  const items = itemsIn(parsed(text), rules);
  const taken = rules.useTargetList ? items.slice(0, hostsTaken) : items.slice(0, 1);
  return taken.flatMap(item => hostOf(item, rules));
}

function itemsIn(
  reply: unknown,
  { endpointReturnsList, useTargetList, useNestedQuery, parentDataPath }: DiscoveryRules,
) {
  const nested = (from: unknown) => listed(parsed(textAt(from, parentDataPath)));
  if (endpointReturnsList) {
    const items = arrayOf(reply).slice(0, hostsTaken);
    return useNestedQuery ? items.flatMap(nested) : items;
  }
  if (useNestedQuery) return nested(reply);
  return useTargetList ? arrayOf(memberAt(reply, parentDataPath)) : [reply];
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

function arrayOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new UnreadableAnswer('there is no list where one should be');
  return value;
}

function textAt(from: unknown, path: string): string {
  const value = memberAt(from, path);
  if (typeof value !== 'string') throw new UnreadableAnswer('there is no text where one should be');
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableAnswer('it is not JSON');
  }
}

const memberAt = (from: unknown, path: string): unknown => getByPath(from, path === '' ? [] : path.split('.'));

/** Nothing for an item that has no host, or a port no host can have. */
function hostOf(item: unknown, { dataPath, portDataPath, targetPath }: DiscoveryRules): string[] {
  const host = memberAt(item, dataPath);
  if (typeof host !== 'string' || host.trim() === '') return [];
  const port = portDataPath === '' ? undefined : portOf(memberAt(item, portDataPath));
  if (port === 'none') return [];
  const name = isIPv6(host.trim()) ? `[${host.trim()}]` : host.trim();
  const path = targetPath === '' || targetPath.startsWith('/') ? targetPath : `/${targetPath}`;
  return [name + (port === undefined ? '' : `:${port}`) + path];
}

function portOf(given: unknown): number | undefined | 'none' {
  const value = Array.isArray(given) ? given[0] : given;
  if (value === undefined || value === null || value === '') return undefined;
  const port = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536 ? port : 'none';
}
