import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tryParseJson } from '#base/try-parse-json.ts';
import type { ForwardRequest } from './operation.ts';

/** Headers that identify the caller, besides the credential header of the surface. */
const callerHeaders = ['cookie', 'x-csrf-token', 'user-agent'];

/**
 * Injects a request with the credentials and the address of another one into the same listener: authentication,
 * permission, ownership, organisation rules, validation and audit are those of a request that the caller sends itself.
 */
export const createForward =
  (app: FastifyInstance, request: FastifyRequest, credentialHeader: string): ForwardRequest =>
  async (method, path, body) => {
    const headers: Record<string, string | string[]> = {};
    for (const name of [credentialHeader, ...callerHeaders]) {
      const value = request.headers[name];
      if (value !== undefined) headers[name] = value;
    }
    const sent = body === undefined ? {} : { payload: JSON.stringify(body) };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const reply = await app.inject({ method, url: path, headers, remoteAddress: request.ip, ...sent });
    return { status: reply.statusCode, body: tryParseJson(reply.payload) };
  };
