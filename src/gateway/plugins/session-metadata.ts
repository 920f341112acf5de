import { isDeepStrictEqual } from 'node:util';
import { createFairQueue } from '#base/fair-queue.ts';
import { isObject } from '#base/json-tree.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { callMain, type PluginOwner } from './host-functions.ts';
import { HostFault, PluginError } from './plugin-runner.ts';
import type { PluginServices } from './services.ts';

type MetadataServices = Pick<PluginServices, 'rpc' | 'log'>;
type Metadata = Readonly<Record<string, unknown>>;

/** Metadata of a key, as JSON. */
const maxMetadataBytes = 65_536;
const writeTimeoutMs = 10_000;

/** Methods whose session is a stored key; those of others are derived from a token by each request. */
const storedMethods: ReadonlySet<string> = new Set(['token', 'basic', 'hmac']);

/** Keys whose metadata is written or waits, and the newest value that is not written yet. */
const active = new Set<string>();
const newest = new Map<string, Metadata>();
const writes = createFairQueue(
  { maxRunning: 10, maxWaiting: 1000 },
  () => new HostFault('too many keys wait for their metadata'),
);

/** Metadata that a hook returned holds for the rest of the request, and where it differs is written to the key. */
export function updateMetadata(
  services: MetadataServices,
  call: Exchange,
  given: unknown,
  { allowsAnyValue = false } = {},
): void {
  const { session } = call;
  if (!session || !isObject(given)) return;
  if (!allowsAnyValue && Object.values(given).some(value => typeof value !== 'string'))
    throw new PluginError('runtime', 'every member of SessionMeta must be a string');
  if (Object.keys(given).length === 0 || isDeepStrictEqual(given, session.metaData)) return;
  if (Buffer.byteLength(JSON.stringify(given)) > maxMetadataBytes)
    throw new PluginError('runtime', `SessionMeta has more than ${maxMetadataBytes} bytes`);
  call.session = { ...session, metaData: given };
  if (call.api && storedMethods.has(call.authMethod)) writeMetadata(services, call.api, call, given);
}

/** Writes one value per key at a time, the newest of those that came meanwhile. */
function writeMetadata(
  services: MetadataServices,
  { id, orgId }: PluginOwner,
  { keyId, keyHash }: Pick<Exchange, 'keyId' | 'keyHash'>,
  metadata: Metadata,
): void {
  const name = `${orgId}\n${keyId}`;
  newest.set(name, metadata);
  if (active.has(name)) return;
  active.add(name);
  const finish = () => {
    active.delete(name);
    newest.delete(name);
  };
  async function writeAll(): Promise<void> {
    for (let value = newest.get(name); value; value = newest.get(name)) {
      newest.delete(name);
      await callMain(services, { id, orgId }, 'writeKeyMetadata', [keyId, value], writeTimeoutMs);
    }
    finish();
  }
  writes.run({ client: orgId, account: name }, writeAll).catch((error: Error) => {
    finish();
    services.log.warn({ api: id, key: keyHash, reason: error.message }, 'key metadata not written');
  });
}
