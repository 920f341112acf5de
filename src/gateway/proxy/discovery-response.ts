import { isIPv6 } from 'node:net';
import { getByPath } from '#base/json.ts';
import type { Model } from '#definition/model.ts';

/** How a discovery response is parsed. */
export type DiscoveryRules = Model['serviceDiscovery'];

/** A longer list is truncated. */
export const maxDiscoveredHosts = 1000;

/** The discovery response does not have the configured shape. The message is logged and repeats nothing of it. */
export class InvalidDiscoveryResponse extends Error {}

/** Parses hosts as `host[:port]` with the configured path, one per item that has a host. */
export function parseHosts(text: string, rules: DiscoveryRules): string[] {
  const items = selectItems(parseDiscoveryJson(text), rules);
  const selected = rules.useTargetList ? items.slice(0, maxDiscoveredHosts) : items.slice(0, 1);
  return selected.flatMap(item => toHost(item, rules));
}

function selectItems(
  document: unknown,
  { endpointReturnsList, useTargetList, useNestedQuery, parentDataPath }: DiscoveryRules,
) {
  const parseNested = (from: unknown) => toList(parseDiscoveryJson(expectText(from, parentDataPath)));
  if (endpointReturnsList) {
    const items = expectArray(document).slice(0, maxDiscoveredHosts);
    return useNestedQuery ? items.flatMap(parseNested) : items;
  }
  if (useNestedQuery) return parseNested(document);
  return useTargetList ? expectArray(memberAt(document, parentDataPath)) : [document];
}

const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

function expectArray(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new InvalidDiscoveryResponse('no list at the configured path');
  return value;
}

function expectText(from: unknown, path: string): string {
  const value = memberAt(from, path);
  if (typeof value !== 'string') throw new InvalidDiscoveryResponse('no string at the configured path');
  return value;
}

function parseDiscoveryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidDiscoveryResponse('the response is not JSON');
  }
}

const memberAt = (from: unknown, path: string): unknown => getByPath(from, path === '' ? [] : path.split('.'));

/** Empty for an item without a host or with an invalid port. */
function toHost(item: unknown, { dataPath, portDataPath, targetPath }: DiscoveryRules): string[] {
  const host = memberAt(item, dataPath);
  if (typeof host !== 'string' || host.trim() === '') return [];
  const port = portDataPath === '' ? undefined : parsePort(memberAt(item, portDataPath));
  if (port === 'none') return [];
  const name = isIPv6(host.trim()) ? `[${host.trim()}]` : host.trim();
  const path = targetPath === '' || targetPath.startsWith('/') ? targetPath : `/${targetPath}`;
  return [name + (port === undefined ? '' : `:${port}`) + path];
}

function parsePort(raw: unknown): number | undefined | 'none' {
  const value = Array.isArray(raw) ? raw[0] : raw;
  if (value === undefined || value === null || value === '') return undefined;
  const port = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536 ? port : 'none';
}
