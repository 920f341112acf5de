import type * as https from 'node:https';

/** `node:https` without an import of the module, which evaluates every export of `node:http`. */
const { createServer: createHttpsServer }: typeof https = process.getBuiltinModule('node:https');

export { createHttpsServer };
