import { isObject } from '#base/json-tree.ts';
import { extensionName } from './document-members.ts';
import type { DefinitionFormat } from './facet.ts';

/** An address in a definition that the gateway connects to. */
export interface OutboundAddress {
  readonly path: string;
  readonly address: string;
}

/** Members of either format that hold one: upstreams, rewrites, registries, key sets, token servers, webhooks. */
const addressMembers: ReadonlySet<string> = new Set([
  ...['target_url', 'target_list', 'override_target', 'url', 'rewrite_to', 'rewriteTo', 'proxy_url'],
  ...['query_endpoint', 'queryEndpoint', 'token_url', 'tokenUrl', 'tokenEndpoint', 'target_path'],
  ...['jwt_source', 'source', 'oauth_on_keychange_url', 'onKeyChangeUrl', 'broker_addresses'],
]);

/** Free-form values: nothing connects to what stands in them. */
const freeFormMembers: ReadonlySet<string> = new Set(['config_data', 'pluginConfig', 'variables']);

/**
 * Outbound addresses of a definition, with their paths. Of an OpenAPI document only the gateway's extension counts:
 * `servers` and examples are the author's own.
 */
export function findOutboundAddresses(format: DefinitionFormat, definition: unknown): OutboundAddress[] {
  const found: OutboundAddress[] = [];
  function visit(value: unknown, path: string, isAddress: boolean): void {
    if (typeof value === 'string') {
      if (isAddress) found.push({ path, address: value });
    } else if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) visit(item, `${path}[${at}]`, isAddress);
    } else if (isObject(value)) {
      for (const [name, member] of Object.entries(value))
        if (!freeFormMembers.has(name)) visit(member, path === '' ? name : `${path}.${name}`, addressMembers.has(name));
    }
  }
  if (format === 'classic') visit(definition, '', false);
  else visit((definition as Record<string, unknown>)[extensionName], extensionName, false);
  return found;
}
