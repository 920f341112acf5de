import type { RequestHook } from 'gatewright/plugin';

/** The least that a hook does. */
export const pre: RequestHook = request => {
  request.headers.set('X-Plugin', 'yes');
};
