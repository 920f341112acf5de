/** Subprotocol of GraphQL over WebSocket: the current one, and the one of older clients and servers. */
export type SocketProtocol = 'graphql-transport-ws' | 'graphql-ws';

/** In order of preference. */
export const socketProtocols: readonly SocketProtocol[] = ['graphql-transport-ws', 'graphql-ws'];

export const isSocketProtocol = (name: string): name is SocketProtocol =>
  (socketProtocols as readonly string[]).includes(name);

/** Close code of graphql-transport-ws for a message that is none. */
export const invalidMessageCode = 4400;
/** Of the same protocol: a key that is not valid any more, or an operation before `connection_init`. */
export const unauthorizedCode = 4401;

/** Names of messages by protocol. */
export const messageTypes = {
  'graphql-transport-ws': { start: 'subscribe', stop: 'complete', result: 'next' },
  'graphql-ws': { start: 'start', stop: 'stop', result: 'data' },
} as const satisfies Record<SocketProtocol, object>;
