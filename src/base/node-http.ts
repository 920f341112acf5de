import type * as http from 'node:http';

/**
 * Functions of `node:http` without an import of the module: an import evaluates every export, and one of them loads
 * Node's own copy of undici, 16 MB and 50 ms in each thread.
 */
const { createServer, METHODS, request, ServerResponse, STATUS_CODES }: typeof http =
  process.getBuiltinModule('node:http');

export { createServer, METHODS, request, ServerResponse, STATUS_CODES };
