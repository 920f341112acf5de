import { parsePem } from '#access/certificates/pem.ts';
import type { CertificateStore } from '#access/certificates/store.ts';
import { changeKey, issueKey, type KeyServices, revokeKey } from '#access/keys/issue.ts';
import { carryUsedQuota, withLiveQuota } from '#access/keys/live-quota.ts';
import { checkPolicy, newPolicy } from '#access/policies/new-policy.ts';
import { type ApiServices, changeApi, checkDefinition } from '#apis/api/changes.ts';
import { listAuthTypes, toModel } from '#apis/api/rules.ts';
import type { StoredApi } from '#apis/api/schema.ts';
import { toUnixSeconds } from '#base/clock.ts';
import { Problem } from '#base/problems.ts';
import { setClientCertificate } from '#definition/certificate-uses.ts';
import { findCredentialHeader } from '#definition/credential-header.ts';
import type { DefinitionFormat } from '#definition/facet.ts';
import { addTokenIssuer, removePolicyScopes, type TokenIssuer } from '#definition/token-issuer.ts';
import type { Actor } from '#operations/actor.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { OrganisationStore } from '#people/organisations/store.ts';
import { wholeList } from '#storage/collection.ts';
import {
  type ApiFacts,
  type ControlPlane,
  type ControlPlaneOf,
  findCertificateUse,
  withExpiry,
} from './control-plane.ts';
import { problem } from './problems.ts';

/** APIs of one search. */
const maxFoundApis = 50;

export interface LocalPlaneServices extends KeyServices, ApiServices {
  certificates: CertificateStore;
  organisations: OrganisationStore;
  defaultOrgId: () => Promise<string>;
}

/** Control plane of this installation, in the organisation of the provider or the default one. */
export function createLocalControlPlane(services: LocalPlaneServices): ControlPlaneOf {
  const { policies, organisations, defaultOrgId, clock, settings } = services;
  return ({ Name: name, MetaData }) => {
    const refuse = (reason: string, cause?: unknown) => problem.provider_refused({ detail: { name, reason }, cause });

    async function orgId(): Promise<string> {
      const id = MetaData.OrgID || (await defaultOrgId());
      if (!(await organisations.get(id))) throw refuse(`there is no organisation ${id}`);
      return id;
    }

    /** Maps client errors to `provider_refused`, as from a remote installation; server errors pass through. */
    async function asProvider<T>(work: (orgId: string) => Promise<T>): Promise<T> {
      try {
        return await work(await orgId());
      } catch (error) {
        const foreseen = error instanceof Problem && error.status < 500;
        if (!foreseen || error.code === problem.provider_refused.code) throw error;
        throw refuse(error.message, error);
      }
    }

    return {
      // The portal has all permissions in this installation.
      async check() {
        const id = MetaData.OrgID || (await defaultOrgId());
        const organisation = (await organisations.get(id)) ? '' : `there is no organisation ${id}`;
        return { organisation, apis: '', policies: '', keys: '', certificates: '' };
      },
      policies: () => asProvider(async org => (await policies.search(org, {}, wholeList)).items),
      createPolicy: policy =>
        asProvider(org => policies.insert(newPolicy(checkPolicy(policy, settings), org, clock.now()))),
      updatePolicy: (id, change) =>
        asProvider(async org => {
          const changed = await policies.change(org, id, stored => ({
            ...checkPolicy(change(stored), settings),
            _id: stored._id,
            id: stored.id,
            org_id: stored.org_id,
            date_created: stored.date_created,
            last_updated: String(toUnixSeconds(clock.now())),
          }));
          if (!changed) throw refuse(`there is no policy ${id}`);
          return changed;
        }),
      deletePolicy: id =>
        asProvider(async org => {
          await policies.remove(org, id);
        }),
      ...createApiCalls(services, asProvider, refuse),
      ...createKeyCalls(services, asProvider),
      ...createCertificateCalls(services, asProvider),
    };
  };
}

type CallAsProvider = <T>(work: (orgId: string) => Promise<T>) => Promise<T>;

function createApiCalls(
  services: LocalPlaneServices,
  asProvider: CallAsProvider,
  refuse: (reason: string) => Error,
): Pick<ControlPlane, 'apis' | 'searchApis' | 'addTokenIssuer' | 'removePolicyScopes'> {
  const { apis } = services;
  return {
    apis: ids =>
      asProvider(
        async org => new Map((await apis.findByIds(org, ids)).map(api => [api.api_id, toApiFacts(api)] as const)),
      ),
    searchApis: text =>
      asProvider(async org => {
        const filter = { exceptKind: 'mcp', name: text } as const;
        const { items } = await apis.page(org, filter, 'name', { page: 1, size: maxFoundApis });
        return items.map(toApiFacts);
      }),
    addTokenIssuer: (apiId, issuer) =>
      asProvider(async org => {
        const reason = await addIssuerToApi(services, org, apiId, issuer);
        if (reason !== undefined) throw refuse(`API ${apiId} ${reason}`);
      }),
    removePolicyScopes: (apiId, policyIds) =>
      asProvider(org =>
        editApi(services, org, apiId, (format, definition) => removePolicyScopes(format, definition, policyIds)),
      ),
  };
}

function createKeyCalls(
  services: LocalPlaneServices,
  asProvider: CallAsProvider,
): Pick<ControlPlane, 'readKey' | 'createKey' | 'expireKey' | 'changeKey' | 'deleteKey'> {
  return {
    readKey: keyId =>
      asProvider(async org => {
        const stored = await services.keys.get(org, keyId);
        return stored && (await withLiveQuota(services, stored)).key;
      }),
    createKey: (key, { name, replaced } = {}) =>
      asProvider(async org => {
        const { key_id, key_hash, data } = await issueKey(services, org, key, { name });
        if (replaced) await carryUsedQuota(services, org, replaced, key_id);
        return { key_id, key_hash, expires: data.expires ?? 0 };
      }),
    expireKey: (keyId, unixSeconds) =>
      asProvider(async org => {
        const stored = await services.keys.get(org, keyId);
        if (stored) await changeKey(services, stored, it => withExpiry(it, unixSeconds), { suppressReset: true });
      }),

    changeKey: (keyId, change, { keepsCounters: suppressReset } = { keepsCounters: false }) =>
      asProvider(async org => {
        const stored = await services.keys.get(org, keyId);
        if (!stored) return undefined;
        const { key_id, key_hash, data } = await changeKey(services, stored, change, { suppressReset });
        return { key_id, key_hash, expires: data.expires ?? 0 };
      }),

    deleteKey: keyId =>
      asProvider(async org => {
        await revokeKey(services, org, keyId);
      }),
  };
}

function createCertificateCalls(
  services: LocalPlaneServices,
  asProvider: CallAsProvider,
): Pick<ControlPlane, 'findCertificate' | 'addCertificate' | 'deleteCertificate' | 'setClientCertificate'> {
  const { certificates, clock } = services;
  return {
    findCertificate: fingerprint => asProvider(async org => (await certificates.get(org, org + fingerprint))?.id),
    addCertificate: pem =>
      asProvider(async orgId => {
        const nowMs = clock.now();
        const parsed = parsePem(pem, { orgId, nowMs });
        await certificates.insert(parsed, { orgId, createdAtMs: nowMs });
        return parsed.id;
      }),
    deleteCertificate: id =>
      asProvider(async org => {
        await certificates.remove(org, id);
      }),
    setClientCertificate: (apiId, certificateId, isAllowed) =>
      asProvider(org =>
        editApi(services, org, apiId, (format, definition) =>
          setClientCertificate(format, definition, certificateId, isAllowed),
        ),
      ),
  };
}

/** Changes the definition of an API that exists; `edit` returns undefined where nothing changes. */
async function editApi(
  services: ApiServices,
  orgId: string,
  apiId: string,
  edit: (format: DefinitionFormat, definition: unknown) => unknown,
): Promise<void> {
  const editOf = ({ kind, definition }: StoredApi) => edit(kind === 'classic' ? 'classic' : 'oas', definition);
  const api = await services.apis.get(orgId, apiId);
  if (!api || editOf(api) === undefined) return;
  await changeApi(services, { actor: toPortalActor(orgId), orgId, ref: apiId }, before => ({
    ...checkDefinition(before.kind, editOf(before) ?? before.definition, services),
    wrapper: before.wrapper,
  }));
}

const toPortalActor = (orgId: string): Actor => ({
  surface: 'admin',
  id: '',
  name: 'portal',
  orgId,
  permissions: { IsAdmin: 'admin' },
});

/** Adds a token issuer to an API, whose definition does not change where it has it; the reason where it cannot. */
async function addIssuerToApi(services: ApiServices, orgId: string, apiId: string, issuer: TokenIssuer) {
  const addTo = ({ kind, definition }: StoredApi) =>
    addTokenIssuer<unknown>(kind === 'classic' ? 'classic' : 'oas', definition, issuer);
  const api = await services.apis.get(orgId, apiId);
  const planned = api ? addTo(api) : { ok: false as const, reason: 'does not exist' };
  if (!planned.ok) return planned.reason;
  if (!planned.isChanged) return undefined;
  await changeApi(services, { actor: toPortalActor(orgId), orgId, ref: apiId }, before => {
    const added = addTo(before);
    if (!added.ok) throw createInvalidProblem([{ path: apiId, message: added.reason }]);
    return { ...checkDefinition(before.kind, added.definition, services), wrapper: before.wrapper };
  });
  return undefined;
}

function toApiFacts(api: StoredApi): ApiFacts {
  const model = toModel(api);
  const { identity, listen, upstream, graphql } = model;
  return {
    apiId: api.api_id,
    name: api.summary.name,
    kind: api.kind === 'mcp' ? 'MCP' : api.kind === 'streams' ? 'streams' : graphql.enabled ? 'GraphQL' : 'REST',
    listenPath: listen.path,
    targetUrl: upstream.url,
    active: identity.active,
    authTypes: listAuthTypes(model),
    authHeader: findCredentialHeader(model),
    certificateUse: findCertificateUse(model),
    allowedCertificates: model.clientCertificates.allowlist,
  };
}
