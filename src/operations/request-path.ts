import type { FastifyRequest } from 'fastify';
import type { AnyOperation } from './operation.ts';

/** Keys and tokens in a path are credentials: audit records contain the placeholder instead. */
export function toAuditPath(it: AnyOperation, request: FastifyRequest): string {
  if (!credentialInPath.test(it.path)) return pathOf(request);
  const params = request.params as Record<string, string>;
  return it.path.replaceAll(/\{([\w-]+)\}/g, (whole, name: string) =>
    credentialInPath.test(whole) ? whole : encodeURIComponent(params[name.replaceAll('-', '_')] ?? ''),
  );
}
const credentialInPath = /\{(key_?id|token)\}/i;
export const pathOf = (request: FastifyRequest) => request.url.split('?')[0]!;
