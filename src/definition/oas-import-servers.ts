import { arrayOrEmpty, objectOrEmpty } from '#base/json-tree.ts';
import type { Fault } from './validation-error.ts';

/** Whether an address says where it leads by itself. */
export const isAbsoluteUrl = (url: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^/\s]/i.test(url) && URL.canParse(url);

/** The address a server of a document stands for, its variables filled in with their defaults. */
export function serverUrl(server: unknown): string {
  const { url, variables } = objectOrEmpty(server);
  if (typeof url !== 'string') return '';
  return url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const { default: fallback } = objectOrEmpty(objectOrEmpty(variables)[name]);
    return typeof fallback === 'string' && fallback !== '' ? fallback : whole;
  });
}

/** Where the service behind a document is: at its first server, unless that is not enough to go by. */
export function upstreamFromServers(servers: unknown): { readonly url: string } | { readonly fault: Fault } {
  const [first] = arrayOrEmpty(servers);
  const fault = (path: string, message: string) => ({ fault: { path, message } });
  if (first === undefined) return fault('upstreamURL', 'is required, since the document names no servers');
  const url = serverUrl(first);
  const [open] = /\{[^{}]*\}/.exec(url) ?? [];
  if (open) return fault('servers[0].url', `the variable ${open} has no default: give upstreamURL`);
  return isAbsoluteUrl(url) ? { url } : fault('servers[0].url', 'is not an absolute URL: give upstreamURL');
}
