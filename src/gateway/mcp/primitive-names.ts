import { methodPathPrefix, type PrimitiveType, primitivePathPrefixes } from '#definition/mcp-names.ts';
import type { RpcMessage } from '../pipeline/rpc-message.ts';
import type { Envelope } from './envelope.ts';

/**
 * Readings of the name of a primitive. Servers compare URIs as they are, or after they have parsed them (WHATWG URL:
 * scheme and host in lower case, dot segments resolved); rules must hold for both.
 */
export function readNames(type: PrimitiveType, name: string): readonly [canonical: string, sent: string] {
  const normal = name.normalize('NFC');
  return type === 'resource' ? [canonicalizeUri(normal), normal] : [normal, normal];
}

const unreserved = /^[A-Za-z0-9._~-]$/;

/** URI in canonical form, without a fragment: what servers that parse it compare. One that is no URL stays as it is. */
function canonicalizeUri(uri: string): string {
  const url = URL.parse(uri);
  if (!url) return uri;
  url.hash = '';
  // Dot segments may be escaped: they are resolved once more where unescaping revealed some.
  const plain = unescapeUnreserved(url.href);
  return plain === url.href ? plain : unescapeUnreserved(URL.parse(plain)?.href ?? plain);
}

/** Percent-encoded unreserved characters are equal to the characters (RFC 3986, 6.2.2.2). */
const unescapeUnreserved = (uri: string): string =>
  uri.replaceAll(/%[0-9a-f]{2}/gi, code => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return unreserved.test(character) ? character : code.toUpperCase();
  });

/** Resolves the name of a primitive to the virtual path of its entry in the definition. */
export type PrimitiveResolver = (type: PrimitiveType, name: string) => string;

const wildcard = '/*';

/** An exact name wins over wildcards, of which the longest wins; a primitive without an entry has its own path. */
export function createPrimitiveResolver(paths: readonly string[]): PrimitiveResolver {
  const exact = new Map<string, string>();
  const wildcards: { readonly prefix: string; readonly path: string }[] = [];
  const resourcePrefix = primitivePathPrefixes.resource;
  for (const path of paths) {
    const isResource = path.startsWith(resourcePrefix);
    if (isResource && path.endsWith(wildcard)) {
      const prefix = path.slice(resourcePrefix.length, -1);
      for (const reading of new Set([prefix, readNames('resource', prefix)[0]]))
        wildcards.push({ prefix: resourcePrefix + reading, path });
    } else if (isResource)
      for (const reading of readNames('resource', path.slice(resourcePrefix.length)))
        exact.set(resourcePrefix + reading, path);
    else exact.set(path.normalize('NFC'), path);
  }
  wildcards.sort((a, b) => b.prefix.length - a.prefix.length);
  return (type, name) => {
    const own = primitivePathPrefixes[type] + name;
    const found = exact.get(own);
    if (found !== undefined || type !== 'resource') return found ?? own;
    return wildcards.find(({ prefix }) => own.startsWith(prefix))?.path ?? own;
  };
}

/** Message with the virtual paths that its steps look up. */
export function toRpcMessage(envelope: Envelope, resolve: PrimitiveResolver): RpcMessage {
  const { method, primitiveType: type, primitiveName } = envelope;
  const methodPath = method === '' ? '' : methodPathPrefix + method;
  if (type === '') return { ...envelope, primitiveType: '', methodPath, ownPath: '', primitivePath: '', otherPath: '' };
  const [canonical, sent] = readNames(type, primitiveName);
  const primitivePath = resolve(type, canonical);
  const otherPath = sent === canonical ? '' : resolve(type, sent);
  const ownPath = primitivePathPrefixes[type] + canonical;
  return { ...envelope, primitiveType: type, methodPath, ownPath, primitivePath, otherPath };
}
