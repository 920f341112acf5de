import { z } from 'zod';
import { Key } from '#access/keys/schema.ts';
import { Policy } from '#access/policies/schema.ts';
import { listAuthTypes } from '#apis/api/rules.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import { setClientCertificate } from '#definition/certificate-uses.ts';
import { findCredentialHeader } from '#definition/credential-header.ts';
import type { DefinitionFormat } from '#definition/facet.ts';
import { classicToModel } from '#definition/model.ts';
import { addTokenIssuer, removePolicyScopes, type TokenIssuer } from '#definition/token-issuer.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import {
  type ApiFacts,
  type ControlPlane,
  type ControlPlaneOf,
  findCertificateUse,
  withExpiry,
} from './control-plane.ts';
import { createDashboardClient } from './control-plane-calls.ts';
import { checkDashboard } from './control-plane-check.ts';
import { problem } from './problems.ts';
import { isDotSegment } from './shapes.ts';

/** Concurrent requests for API definitions. */
const maxConcurrentCalls = 8;

const anything = z.unknown();
const PolicyPage = z.object({ Data: z.array(Policy).nullable() });
const Created = z.object({ Message: z.string().min(1) });
const KeyEnvelope = z.object({
  key_id: z.string().min(1),
  key_hash: z.string(),
  data: Key,
});
const ApiPage = z.object({ apis: z.array(z.unknown()).nullish() });
const CertificatePage = z.object({ certs: z.array(z.string()).nullish() });
const CertificateAdded = z.object({ id: z.string().min(1) });
const ApiWrapper = z.looseObject({
  is_streams: z.boolean().optional(),
  /** Document of an API in the OAS format. */
  oas: z.looseObject({}).nullish(),
  api_definition: z.looseObject({
    api_id: z.string(),
    name: z.string(),
    active: z.boolean().optional(),
    proxy: z.looseObject({ listen_path: z.string().optional(), target_url: z.string().optional() }).optional(),
    graphql: z.looseObject({ enabled: z.boolean().optional() }).nullish(),
  }),
});

/** Control plane of another installation, through its dashboard API. */
export function createRemoteControlPlane(outbound: OutboundClient, caFile: string): ControlPlaneOf {
  return provider => {
    const { call, callMaybe } = createDashboardClient(provider, outbound, caFile);
    /** One path segment: an id must not name another resource. */
    const toSegment = (id: string) => {
      if (isDotSegment(id))
        throw problem.provider_refused({ detail: { name: provider.Name, reason: `${id} is not an id` } });
      return encodeURIComponent(id);
    };
    const addIssuerRemotely = createIssuerCall(provider.Name, { call, callMaybe });
    const policyPath = (id: string) => `/api/portal/policies/${toSegment(id)}`;
    return {
      check: () => checkDashboard({ call, callMaybe }, provider.MetaData.OrgID),
      policies: async () => (await call(PolicyPage, 'GET', '/api/portal/policies?p=-2')).Data ?? [],
      async createPolicy(policy) {
        const { Message: id } = await call(Created, 'POST', '/api/portal/policies', policy);
        return call(Policy, 'GET', policyPath(id));
      },
      async updatePolicy(id, change) {
        const current = await call(Policy, 'GET', policyPath(id));
        await call(anything, 'PUT', policyPath(id), change(current));
        return call(Policy, 'GET', policyPath(id));
      },
      async deletePolicy(id) {
        await callMaybe(anything, 'DELETE', policyPath(id));
      },
      async apis(ids) {
        const facts = new Map<string, ApiFacts>();
        const known = ids.filter(id => !isDotSegment(id));
        for (let at = 0; at < known.length; at += maxConcurrentCalls) {
          const some = known.slice(at, at + maxConcurrentCalls);
          const answers = await Promise.all(some.map(id => callMaybe(ApiWrapper, 'GET', `/api/apis/${toSegment(id)}`)));
          for (const wrapper of answers) if (wrapper) facts.set(wrapper.api_definition.api_id, toApiFacts(wrapper));
        }
        return facts;
      },
      async searchApis(text) {
        const { apis } = await call(ApiPage, 'GET', `/api/apis?p=1&sort=name&q=${encodeURIComponent(text)}`);
        const found = (apis ?? []).flatMap(it => ApiWrapper.safeParse(it).data ?? []);
        return found.map(toApiFacts);
      },
      addTokenIssuer: (id, issuer) => addIssuerRemotely(id, toSegment(id), issuer),
      removePolicyScopes: (id, policyIds) =>
        editRemotely({ call, callMaybe }, toSegment(id), (format, definition) =>
          removePolicyScopes(format, definition, policyIds),
        ),
      ...createKeyCalls({ call, callMaybe }, toSegment),
      ...createCertificateCalls({ call, callMaybe }, toSegment),
    };
  };
}

type DashboardCalls = Pick<ReturnType<typeof createDashboardClient>, 'call' | 'callMaybe'>;

/** Writes the definition of an API in the format that it has. */
async function writeDefinition(
  { call }: Pick<DashboardCalls, 'call'>,
  segment: string,
  { oas, is_streams }: Pick<z.output<typeof ApiWrapper>, 'oas' | 'is_streams'>,
  definition: unknown,
): Promise<void> {
  const kind = is_streams ? 'streams' : 'oas';
  if (oas) await call(anything, 'PUT', `/api/apis/${kind}/${segment}`, definition);
  else await call(anything, 'PUT', `/api/apis/${segment}`, { api_definition: definition });
}

function createKeyCalls(
  { call, callMaybe }: DashboardCalls,
  toSegment: (id: string) => string,
): Pick<ControlPlane, 'readKey' | 'createKey' | 'expireKey' | 'changeKey' | 'deleteKey'> {
  const keyPath = (id: string) => `/api/keys/${toSegment(id)}`;
  return {
    readKey: async (keyId, signal) => (await callMaybe(KeyEnvelope, 'GET', keyPath(keyId), undefined, signal))?.data,
    async createKey(key, { name } = {}) {
      const path = name === undefined ? '/api/keys' : keyPath(name);
      const { key_id, key_hash, data } = await call(KeyEnvelope, 'POST', path, key);
      return { key_id, key_hash, expires: data.expires ?? 0 };
    },
    async expireKey(keyId, unixSeconds) {
      const current = await callMaybe(KeyEnvelope, 'GET', keyPath(keyId));
      const next = current && withExpiry(current.data, unixSeconds);
      if (next) await callMaybe(anything, 'PUT', `${keyPath(keyId)}?suppress_reset=1`, next);
    },

    async changeKey(keyId, change, options) {
      const path = keyPath(keyId);
      const current = await callMaybe(KeyEnvelope, 'GET', path);
      const target = options?.keepsCounters ? `${path}?suppress_reset=1` : path;
      const changed = current && (await callMaybe(KeyEnvelope, 'PUT', target, change(current.data)));
      return changed && { key_id: changed.key_id, key_hash: changed.key_hash, expires: changed.data.expires ?? 0 };
    },

    async deleteKey(keyId) {
      await callMaybe(anything, 'DELETE', keyPath(keyId));
    },
  };
}

function createCertificateCalls(
  { call, callMaybe }: DashboardCalls,
  toSegment: (id: string) => string,
): Pick<ControlPlane, 'findCertificate' | 'addCertificate' | 'deleteCertificate' | 'setClientCertificate'> {
  return {
    async findCertificate(fingerprint) {
      const found = await call(CertificatePage, 'GET', `/api/certs?q=${encodeURIComponent(fingerprint)}`);
      return found.certs?.find(id => id.endsWith(fingerprint));
    },
    addCertificate: async pem => (await call(CertificateAdded, 'POST', '/api/certs', Buffer.from(pem))).id,
    async deleteCertificate(id) {
      await callMaybe(anything, 'DELETE', `/api/certs/${toSegment(id)}`);
    },
    setClientCertificate: (apiId, certificateId, isAllowed) =>
      editRemotely({ call, callMaybe }, toSegment(apiId), (format, definition) =>
        setClientCertificate(format, definition, certificateId, isAllowed),
      ),
  };
}

/** Changes the definition of an API that exists; `edit` returns undefined where nothing changes. */
async function editRemotely(
  { call, callMaybe }: DashboardCalls,
  segment: string,
  edit: (format: DefinitionFormat, definition: unknown) => unknown,
): Promise<void> {
  const wrapper = await callMaybe(ApiWrapper, 'GET', `/api/apis/${segment}`);
  if (!wrapper) return;
  const next = wrapper.oas ? edit('oas', wrapper.oas) : edit('classic', wrapper.api_definition);
  if (next !== undefined) await writeDefinition({ call }, segment, wrapper, next);
}

/** Read-modify-write of the definition of an API, in the format that it has. */
function createIssuerCall(name: string, { call, callMaybe }: DashboardCalls) {
  return async (id: string, segment: string, issuer: TokenIssuer): Promise<void> => {
    const refuse = (reason: string) => problem.provider_refused({ detail: { name, reason: `API ${id} ${reason}` } });
    const wrapper = await callMaybe(ApiWrapper, 'GET', `/api/apis/${segment}`);
    if (!wrapper) throw refuse('does not exist');
    const { oas, api_definition } = wrapper;
    const added = addTokenIssuer<unknown>(oas ? 'oas' : 'classic', oas ?? api_definition, issuer);
    if (!added.ok) throw refuse(added.reason);
    if (added.isChanged) await writeDefinition({ call }, segment, wrapper, added.definition);
  };
}

function toApiFacts({ is_streams, api_definition: definition }: z.output<typeof ApiWrapper>): ApiFacts {
  const model = classicToModel(definition as ClassicDefinition);
  return {
    apiId: definition.api_id,
    name: definition.name,
    kind: is_streams ? 'streams' : definition.graphql?.enabled ? 'GraphQL' : 'REST',
    listenPath: definition.proxy?.listen_path ?? '',
    targetUrl: definition.proxy?.target_url ?? '',
    active: definition.active !== false,
    authTypes: listAuthTypes(model),
    authHeader: findCredentialHeader(model),
    certificateUse: findCertificateUse(model),
    allowedCertificates: model.clientCertificates.allowlist,
  };
}
