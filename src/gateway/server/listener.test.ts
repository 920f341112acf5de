import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { toListener } from './listener.ts';

const address = { host: '127.0.0.1', port: 0, reusePort: false };

test('a listener that is closed while its port opens leaves no open port', async () => {
  const server = createServer();
  const listener = toListener(server);
  const listening = listener.listen(address);
  await listener.close();
  await listening;
  assert.equal(server.listening, false);
});

test('a listener whose port did not open can be closed', async () => {
  const [first, second] = [toListener(createServer()), toListener(createServer())];
  const port = await first.listen(address);
  await assert.rejects(second.listen({ ...address, port }), { code: 'EADDRINUSE' });
  await second.close();
  await first.close();
});
