import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Server-sent events of data graphs: loaded with the first subscription. */
export const loadGraphEvents = (): typeof import('./graph-events.ts') => require('./graph-events.ts');

/** WebSockets of data graphs: loaded with the first one. */
export const loadGraphSocket = (): typeof import('./graph-socket.ts') => require('./graph-socket.ts');
