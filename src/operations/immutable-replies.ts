import type { FastifyInstance, FastifyReply } from 'fastify';

const immutableReplies = new WeakSet<FastifyReply>();
const prepared = new WeakSet<FastifyInstance>();

/** The response never changes: its address contains a hash of its content. */
export const markImmutable = (reply: FastifyReply): void => void immutableReplies.add(reply);

/** Lets caches store marked responses. After the hook of the listener, which forbids it for everything. */
export function addImmutableReplies(app: FastifyInstance): void {
  if (prepared.has(app)) return;
  prepared.add(app);
  app.addHook('onSend', async (_request, reply) => {
    if (!immutableReplies.has(reply)) return;
    reply.header('cache-control', 'public, max-age=31536000, immutable').removeHeader('pragma');
  });
}
