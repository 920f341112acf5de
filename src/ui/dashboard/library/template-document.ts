type Loose = Readonly<Record<string, unknown>>;

const extension = 'x-gw-api-gateway';
const asObject = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {});
const omit = (object: unknown, names: readonly string[]): Loose =>
  Object.fromEntries(Object.entries(asObject(object)).filter(([name]) => !names.includes(name)));

/** Template of an API: its document without what belongs to it alone (ids, name, listen path, domain, upstream). */
export function toTemplate(document: unknown): Loose {
  const {
    info: _info,
    servers: _servers,
    [extension]: gateway,
    ...rest
  } = asObject(document) as Record<string, unknown>;
  const { info, server, upstream, ...others } = asObject(gateway) as Record<string, unknown>;
  return {
    ...rest,
    [extension]: {
      ...others,
      info: omit(info, ['id', 'dbId', 'orgId', 'name']),
      server: omit(server, ['listenPath', 'customDomain']),
      upstream: omit(upstream, ['url']),
    },
  };
}

export type ParsedDocument = { readonly value: Record<string, unknown> } | { readonly error: string };

/** Object of a JSON text, or why it is none. */
export function parseDocument(text: string): ParsedDocument {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { value: value as Record<string, unknown> } : { error: 'not an object' };
  } catch (error) {
    return { error: (error as Error).message };
  }
}
