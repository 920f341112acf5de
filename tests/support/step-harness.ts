import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePem } from '#access/certificates/pem.ts';
import { createCertificateStore } from '#access/certificates/store.ts';
import { formatKeyId } from '#access/keys/ids.ts';
import { keyDigest } from '#access/keys/key-row.ts';
import type { Key } from '#access/keys/schema.ts';
import { createKeyStore, type KeyKind } from '#access/keys/store.ts';
import { createOauthCodeStore } from '#access/oauth/code-store.ts';
import { createOauthClientStore } from '#access/oauth/store.ts';
import { createOauthTokenStore } from '#access/oauth/token-store.ts';
import { policyIdsOf } from '#access/policies/apply-policies.ts';
import type { Policy } from '#access/policies/schema.ts';
import { createPolicyStore } from '#access/policies/store.ts';
import { createAccessStore } from '#access/reader.ts';
import { createAddressPolicies } from '#base/address-policies.ts';
import { formatIsoTime } from '#base/clock.ts';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import { createLog } from '#base/log.ts';
import { createRedactor } from '#base/redaction.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import { createDataKey, createVault } from '#base/vault.ts';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import { createCertificateCache } from '#gateway/auth/certificate-cache.ts';
import { createKeyCache } from '#gateway/auth/key-cache.ts';
import { createOauthProvider } from '#gateway/auth/oauth/provider.ts';
import { createTokenServices } from '#gateway/auth/token-services.ts';
import { bodyFromBytes, noBody } from '#gateway/http/body.ts';
import { HeaderList } from '#gateway/http/headers.ts';
import { runRequestSteps } from '#gateway/pipeline/chain.ts';
import { Exchange, type Peer } from '#gateway/pipeline/exchange.ts';
import { createTenantGrants } from '#gateway/pipeline/tenant-grants.ts';
import { createRpcClient, createRpcServer } from '#gateway/pipeline/thread-rpc.ts';
import { type Api, compileApi } from '#gateway/routing/api.ts';
import { buildNextSnapshot, createEmptySnapshot } from '#gateway/routing/snapshot.ts';
import type { MainThreadRpc, StepServices } from '#gateway/steps/step-services.ts';
import { createDefinitionSecrets } from '#gateway/variables/definition-secrets.ts';
import { createInstallationSecretStore } from '#people/installation/secrets.ts';
import { operatorGrants } from '#people/organisations/grants.ts';
import { createMetaStore } from '#storage/meta.ts';
import { openReader } from '#storage/open-reader.ts';
import type { Reader } from '#storage/reader.ts';
import { openRecords } from '#storage/records.ts';

/**
 * The steps of an API on real records, without sockets: a call goes in with whatever connection a test gives it, and
 * out come the answer of the chain and the events it fired.
 */
export type Bench = Awaited<ReturnType<typeof openBench>>;

export interface Sent {
  method?: string;
  /** Path below the listen path, with a query if there is one. */
  target?: string;
  headers?: Record<string, string>;
  body?: string;
  peer?: Partial<Peer>;
  host?: string;
  /** How the call comes round: already so often, with what was known of its caller. */
  change?: (call: Exchange) => void;
}

export interface Outcome {
  /** Steps of the chain that were not run: a test of one of them needs sockets, and `startApp`. */
  skipped: readonly string[];
  /** 0 when nothing stopped the call. */
  status: number;
  body: string;
  headers: HeaderList;
  events: { event: string; message: string; key: unknown }[];
  call: Exchange;
}

export const orgId = 'a1b2c3d4e5f60718293a4b5c';
export const startMs = Date.UTC(2030, 0, 1);

export async function openBench(flags: Partial<Record<SettingName, string>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const file = join(directory, 'gw.db');
  const settings = readSettings({ flags });
  const vault = createVault(createDataKey());
  const records = await openRecords({ file });
  const keys = createKeyStore(records, vault, settings);
  const policies = createPolicyStore(records, async () => new Map());
  const certificates = createCertificateStore(records, vault);
  const reader = await openReader({ file });
  const time = { nowMs: startMs };
  const clock = { now: () => time.nowMs };
  const log = createLog({ level: 'silent', format: 'json' });
  let events: Outcome['events'] = [];
  let queries = 0;
  const counted: Reader = {
    ...reader,
    rows(sql, values) {
      queries++;
      return reader.rows(sql, values);
    },
  };
  const store = createAccessStore(counted);
  let snapshot = createEmptySnapshot({ prefix: false });
  const sessions = createKeyCache({ store, vault, settings, clock, log, served: () => snapshot });
  const oauth = {
    oauthClients: createOauthClientStore(records, vault),
    oauthTokens: createOauthTokenStore(records, vault, settings),
    oauthCodes: createOauthCodeStore(records, vault),
  };
  const addresses = createAddressPolicies({ managementPorts: () => [] });
  const tokens = createTokenServices({
    addresses,
    store,
    sessions,
    vault,
    settings,
    clock,
    log,
  });
  const provider = createOauthProvider({
    ...oauth,
    records,
    keys,
    policies,
    secrets: createInstallationSecretStore(createMetaStore(records), vault, settings),
    settings,
    clock,
    outbound: tokens.services.outbound,
    log,
  });
  const mainThread = createRpcClient<MainThreadRpc>(it => void answer(it));
  const answer = createRpcServer({ oauth: provider.answer }, reply => mainThread.receive(structuredClone(reply)));
  const services = {
    settings,
    addressPolicies: addresses,
    grants: { ...createTenantGrants(settings), of: () => operatorGrants },
    clock,
    log,
    keyCache: sessions,
    certificates: createCertificateCache(store, vault),
    ...tokens.services,
    rpc: mainThread.call,
    secrets: createDefinitionSecrets({ settings, redactor: createRedactor(), isGranted: () => true }),
    emitEvent: (event, _call, message, more = {}) => events.push({ event, message, key: more.key }),
  } as Partial<StepServices> as StepServices;

  const compile = async (definition: object = {}): Promise<Api> => {
    const model = classicToModel(definitionOf(definition));
    await services.certificates.prefetch([model]);
    const api = compileApi(model, services);
    snapshot = buildNextSnapshot(snapshot, 0, [api], []);
    return api;
  };

  return {
    services,
    store,
    reader,
    vault,
    keys,
    policies,
    certificates,
    records,
    ...oauth,
    time,
    /** Tells the thread what was written since it began. */
    invalidateAll() {
      sessions.invalidate(undefined);
      tokens.changed(undefined);
    },
    queries: () => queries,
    digestOf: (keyId: string) => keyDigest(vault, keyId),
    compile,

    async key(key: Key, { name = createPublicId(), kind = 'token' as KeyKind } = {}): Promise<string> {
      const keyId = formatKeyId(orgId, name);
      const body = { ...key, org_id: orgId };
      await keys.create({
        rowId: createDatabaseId(),
        orgId,
        kind,
        keyId,
        createdAtMs: time.nowMs,
        key: body,
        policyIds: policyIdsOf(body),
      });
      return keyId;
    },

    policy: (policy: Policy & { id: string }) =>
      policies.insert({
        _id: createDatabaseId(),
        org_id: orgId,
        name: policy.id,
        state: 'active',
        date_created: formatIsoTime(time.nowMs),
        ...policy,
      } as Parameters<typeof policies.insert>[0]),

    async certificate(pem: string, at = time.nowMs): Promise<string> {
      const read = parsePem(pem, { orgId, nowMs: at });
      await certificates.insert(read, { orgId, createdAtMs: at });
      return read.id;
    },

    /** Runs the steps of `guards`; the others of the chain are named in `skipped`. */
    async send(api: Api, sent: Sent = {}): Promise<Outcome> {
      events = [];
      const call = exchangeOf(api, sent, time.nowMs);
      const request = stepsOf(api, guards);
      const answer = await runRequestSteps({ request }, call);
      return {
        status: answer?.status ?? 0,
        body: answer?.body.bytes?.toString() ?? '',
        headers: answer?.headers ?? new HeaderList(),
        events,
        call,
        skipped: api.versionRuntimes[0]!.chain.names.request.filter(name => !guards.has(name)),
      };
    },

    /** Asks a path the API answers itself. */
    async ask(api: Api, sent: Sent) {
      const call = exchangeOf(api, sent, time.nowMs);
      const given = await api.builtInRoutes.get(call.innerPath)!(call, () => undefined);
      const body = given.body.bytes?.toString() ?? '';
      return { status: given.status, headers: given.headers, body };
    },

    async close(): Promise<void> {
      provider.close();
      await tokens.close();
      await reader.close();
      await records.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Steps of authentication and authorization; limits have tests of their own. */
const guards = new Set([
  'expiry',
  'endpoint-access',
  'ip-access',
  'client-certificates',
  'alternatives',
  'oauth',
  'external-oauth',
  'basic',
  'hmac',
  'jwt',
  'oidc',
  'token',
  'strip-auth',
  'key-state',
  'access-rights',
  'allowed-urls',
  'graphql',
]);

/** The body of a refusal. */
export const errorBody = (message: string) => `{\n    "error": ${JSON.stringify(message)}\n}`;

/** An API that requires a key by default. */
const definitionOf = (more: object) =>
  ({
    name: 'Bench "1"',
    id: 'bench-database-id',
    api_id: 'bench',
    org_id: orgId,
    active: true,
    proxy: { listen_path: '/bench/', target_url: 'http://127.0.0.1:1', strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  }) as unknown as ClassicDefinition;

/** What the named steps of its first version do with a request, in their order. */
export function stepsOf({ versionRuntimes: served }: Api, names: ReadonlySet<string>) {
  const { chain } = served[0]!;
  return chain.request.filter((_run, at) => names.has(chain.names.request[at]!));
}

function exchangeOf(api: Api, sent: Sent, nowMs: number): Exchange {
  const { method = 'GET', target = '/', headers = {}, body, peer = {}, host = 'gateway.example' } = sent;
  const [path = '/', query = ''] = target.split('?');
  const call = new Exchange({
    method,
    target: `/bench${target}`,
    path: `/bench${path}`,
    query,
    host,
    headers: new HeaderList(Object.entries({ Host: host, ...headers }).flat()),
    body: body === undefined ? noBody() : bodyFromBytes(Buffer.from(body)),
    peer: { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined, ...peer },
    clientAddress: peer.address ?? '127.0.0.1',
    receivedAtMs: nowMs,
    startedAt: 0,
  });
  call.api = api;
  call.listenPath = '/bench/';
  call.innerPath = path;
  sent.change?.(call);
  return call;
}
