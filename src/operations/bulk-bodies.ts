import { getHeapStatistics } from 'node:v8';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from './actor.ts';
import { problem } from './problems.ts';

/** Share of the heap for bodies of bulk writes in progress: parsed, a body takes several times its size. */
const heapShare = 1 / 16;
const retryAfterSeconds = 5;

export type BulkBodyLimit = ReturnType<typeof createBulkBodyLimit>;

/**
 * Limit of the bodies of bulk writes in memory at one time, of all organisations and of one, which gets half of it. One
 * body of the largest size is always accepted.
 */
export function createBulkBodyLimit(maxBodyBytes: number, heapBytes = getHeapStatistics().heap_size_limit) {
  const maxBytes = Math.max(maxBodyBytes, Math.floor(heapBytes * heapShare));
  const maxOrganisationBytes = Math.max(maxBodyBytes, Math.floor(maxBytes / 2));
  const reserved = new Map<string, number>();
  let total = 0;

  function add(orgId: string, bytes: number): void {
    total += bytes;
    const own = (reserved.get(orgId) ?? 0) + bytes;
    if (own > 0) reserved.set(orgId, own);
    else reserved.delete(orgId);
  }

  return {
    maxOrganisationBytes,
    /** Reserves the bytes of a body before it is read; returns the release, which may be called twice. */
    reserve(orgId: string, bytes: number): () => void {
      if (total + bytes > maxBytes || (reserved.get(orgId) ?? 0) + bytes > maxOrganisationBytes)
        throw problem.too_many_bodies({ detail: { retryAfter: retryAfterSeconds } });
      add(orgId, bytes);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        add(orgId, -bytes);
      };
    },
  };
}

/** Length of the body; infinite where it shows only while the body is read. */
export const readBodyBytes = (headers: FastifyRequest['headers']): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;

/** Releases of reserved bodies, until the handler has ended. */
const bodyReleases = new WeakMap<FastifyRequest, () => void>();

/** Reserves memory for the body of a bulk write, until its handler has ended, or the connection before it. */
export function reserveBody(
  { orgId }: Actor,
  request: FastifyRequest,
  reply: FastifyReply,
  { bulkBodies, maxBulkBodyBytes }: { readonly bulkBodies: BulkBodyLimit; readonly maxBulkBodyBytes: number },
): void {
  const release = bulkBodies.reserve(orgId, Math.min(readBodyBytes(request.headers), maxBulkBodyBytes));
  bodyReleases.set(request, release);
  reply.raw.once('close', () => {
    if (bodyReleases.has(request)) release();
  });
}

/** Hands the reservation to the handler, which releases it at its end. */
export function takeBodyRelease(request: FastifyRequest): (() => void) | undefined {
  const release = bodyReleases.get(request);
  bodyReleases.delete(request);
  return release;
}
