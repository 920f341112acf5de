import { z } from 'zod';
import type { StoredApi } from '#apis/api/schema.ts';
import type { ApiStore } from '#apis/api/store.ts';
import { problem as apisProblem } from '#apis/problems.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { pageQuery, statusResponse, toStatus } from '#operations/shapes.ts';
import { problem as keysProblem } from '../keys/problems.ts';
import type { KeyStore } from '../keys/store.ts';
import { type DependencyServices, findApisWithCertificate, removeDependencies } from './dependencies.ts';
import { problem } from './problems.ts';
import type { CertificateStore } from './store.ts';

interface ReadServices {
  certificates: CertificateStore;
  apis: ApiStore;
  keys: KeyStore;
  settings: Settings;
}

const declared = { surface: 'dashboard', noun: 'certificates' } as const;
const params = z.object({ certId: z.string() });

async function requireCertificate(certificates: CertificateStore, orgId: string, certId: string): Promise<void> {
  if (!(await certificates.get(orgId, certId))) throw problem.not_found();
}

const graphTypes: Readonly<Record<string, string>> = {
  udg: 'Gw UDG',
  subgraph: 'Subgraph',
  supergraph: 'Supergraph',
  graphql: 'Gw GraphQL',
  tcp: 'TCP',
};

/** Kind of an API in the vocabulary of this list. */
function toApiTypeName({ kind, summary }: StoredApi): string {
  if (kind === 'streams') return 'Gw Streams';
  if (kind === 'oas') return 'Gw OAS';
  if (kind === 'mcp') return 'Gw MCP';
  return summary.api_types.map(type => graphTypes[type]).find(Boolean) ?? 'Gw Classic';
}

export const listCertificateApis = operation({
  ...declared,
  name: 'listCertificateApis',
  method: 'GET',
  path: '/api/certs/{certId}/apis',
  about:
    'Lists the APIs that use a certificate for clients, upstreams or their own domain. The list includes APIs of other owners, to show whether the certificate is in use.',
  permission: 'certs:read',
  params,
  query: pageQuery,
  returns: z.object({
    cert_id: z.string(),
    apis: z.array(
      z.object({ api_id: z.string(), name: z.string(), usage_type: z.array(z.string()), gw_api_type: z.string() }),
    ),
    pages: z.int(),
  }),
  problems: [problem.not_found],
  async handle({ actor, params: { certId }, query: { p } }, { certificates, apis, settings }: ReadServices) {
    await requireCertificate(certificates, actor.orgId, certId);
    const found = await findApisWithCertificate(apis, actor.orgId, certId);
    const size = settings['management.page_size'];
    const shown = p < 1 ? found : found.slice((p - 1) * size, p * size);
    return {
      cert_id: certId,
      apis: shown.map(({ api, roles }) => ({
        api_id: api.api_id,
        name: api.summary.name,
        usage_type: [...roles],
        gw_api_type: toApiTypeName(api),
      })),
      pages: p < 1 ? 1 : Math.max(1, Math.ceil(found.length / size)),
    };
  },
});

const ids = z.array(z.string());

export const getCertificateDependencies = operation({
  ...declared,
  name: 'getCertificateDependencies',
  method: 'GET',
  path: '/api/certs/dependencies/{certId}',
  about: 'Lists the dependents of a certificate: APIs by role, and a key that is bound to it.',
  permission: 'certs:read',
  params,
  returns: z.object({
    certID: z.string(),
    client_cert_apis: ids,
    client_cert_api_names: ids,
    upstream_cert_apis: ids,
    upstream_cert_api_names: ids,
    server_cert_apis: ids,
    server_cert_api_names: ids,
    key_cert: z.string().describe('Hash of the first key that is bound to the certificate'),
  }),
  problems: [problem.not_found],
  async handle({ actor, params: { certId } }, { certificates, apis, keys }: ReadServices) {
    await requireCertificate(certificates, actor.orgId, certId);
    const found = await findApisWithCertificate(apis, actor.orgId, certId);
    const [client, upstream, server] = (['client', 'upstream', 'server'] as const).map(role => {
      const using = found.filter(({ roles }) => roles.includes(role)).map(({ api }) => api);
      return { ids: using.map(({ api_id }) => api_id), names: using.map(({ summary }) => summary.name) };
    });
    const key = await keys.findFirstBoundTo(actor.orgId, certId);
    return {
      certID: certId,
      client_cert_apis: client!.ids,
      client_cert_api_names: client!.names,
      upstream_cert_apis: upstream!.ids,
      upstream_cert_api_names: upstream!.names,
      server_cert_apis: server!.ids,
      server_cert_api_names: server!.names,
      key_cert: key?.keyHash ?? '',
    };
  },
});

export const deleteCertificateDependencies = operation({
  ...declared,
  name: 'deleteCertificateDependencies',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/certs/dependencies/{certId}',
  about:
    'Removes a certificate from the APIs that use it, and deletes the keys that are bound to it. The certificate itself is not deleted.',
  permission: 'certs:write',
  params,
  returns: statusResponse,
  problems: [problem.not_found, apisProblem.api_not_owned, keysProblem.too_many_bound],
  async handle(
    { actor, params: { certId }, audit },
    services: DependencyServices & { certificates: CertificateStore },
  ) {
    audit(certId);
    await requireCertificate(services.certificates, actor.orgId, certId);
    await removeDependencies(services, actor, certId);
    return toStatus('Certificate dependencies removed');
  },
});

export const certificateDependencyOperations = [
  listCertificateApis,
  getCertificateDependencies,
  deleteCertificateDependencies,
];
