import { arrayOrEmpty, objectOrEmpty } from '#base/json-tree.ts';
import type { ValidationError } from '#operations/validation-error.ts';

/** True for an absolute URL with a host. */
export const isAbsoluteUrl = (url: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^/\s]/i.test(url) && URL.canParse(url);

/** URL of a server object, with the defaults of its variables. */
export function serverUrl(server: unknown): string {
  const { url, variables } = objectOrEmpty(server);
  if (typeof url !== 'string') return '';
  return url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const { default: fallback } = objectOrEmpty(objectOrEmpty(variables)[name]);
    return typeof fallback === 'string' && fallback !== '' ? fallback : whole;
  });
}

/** Upstream URL: the first server of the document, if it is absolute. */
export function upstreamFromServers(servers: unknown): { readonly url: string } | { readonly error: ValidationError } {
  const [first] = arrayOrEmpty(servers);
  const error = (path: string, message: string) => ({ error: { path, message } });
  if (first === undefined) return error('upstreamURL', 'is required, since the document names no servers');
  const url = serverUrl(first);
  const [open] = /\{[^{}]*\}/.exec(url) ?? [];
  if (open) return error('servers[0].url', `the variable ${open} has no default: give upstreamURL`);
  return isAbsoluteUrl(url) ? { url } : error('servers[0].url', 'is not an absolute URL: give upstreamURL');
}
