import { arrayOrEmpty, getAt, isObject, type JsonObject, objectOrEmpty, setAt } from '#base/json-tree.ts';
import type { DefinitionFormat } from './facet.ts';
import { classicToModel, type Model, oasToModel } from './model.ts';
import type { ClassicDefinition, OasDefinition } from './wire-types.ts';

/** Role of stored certificates in an API. */
export interface CertificateUse {
  readonly role: 'client' | 'upstream' | 'server';
  readonly isEnabled: boolean;
  readonly ids: readonly string[];
}

/** Certificates that an API names, by role, whether or not their part of the definition is enabled. */
export const listCertificateUses = ({
  clientCertificates,
  mutualTls,
  transport,
  customDomain,
}: Model): CertificateUse[] => [
  { role: 'client', isEnabled: clientCertificates.enabled, ids: clientCertificates.allowlist },
  { role: 'upstream', isEnabled: mutualTls.enabled, ids: Object.values(mutualTls.certificates) },
  { role: 'upstream', isEnabled: true, ids: transport.caCertificates },
  { role: 'server', isEnabled: customDomain.enabled, ids: customDomain.certificates },
];

const listPaths: Record<DefinitionFormat, readonly (readonly string[])[]> = {
  classic: [['certificates'], ['client_certificates'], ['proxy', 'transport', 'ssl_ca_certificates']],
  oas: [
    ['x-gw-api-gateway', 'server', 'clientCertificates', 'allowlist'],
    ['x-gw-api-gateway', 'server', 'customDomain', 'certificates'],
    ['x-gw-api-gateway', 'upstream', 'tlsTransport', 'caCertificates'],
  ],
};
const clientPaths: Record<DefinitionFormat, readonly string[]> = {
  classic: ['client_certificates'],
  oas: ['x-gw-api-gateway', 'server', 'clientCertificates', 'allowlist'],
};
const mappingPath = ['x-gw-api-gateway', 'upstream', 'mutualTLS', 'domainToCertificateMapping'];

/**
 * Removes a certificate from a definition. An empty list of client certificates stays enabled: it refuses every client.
 * So does an empty list of the only authorities of an upstream: the API is not served.
 */
export function removeCertificate<T>(format: DefinitionFormat, definition: T, certificateId: string): T {
  const next = structuredClone(definition) as JsonObject;
  for (const path of listPaths[format]) {
    const list = getAt(next, path);
    if (Array.isArray(list))
      setAt(
        next,
        path,
        list.filter(id => id !== certificateId),
      );
  }
  if (format === 'classic') {
    const mapped = Object.entries(objectOrEmpty(next.upstream_certificates)).filter(([, id]) => id !== certificateId);
    if (isObject(next.upstream_certificates)) next.upstream_certificates = Object.fromEntries(mapped);
  } else if (Array.isArray(getAt(next, mappingPath))) {
    const pairs = arrayOrEmpty(getAt(next, mappingPath));
    setAt(
      next,
      mappingPath,
      pairs.filter(pair => !isObject(pair) || pair.certificate !== certificateId),
    );
  }
  return next as T;
}

/**
 * Adds a certificate to the allow list of clients, or removes it from there. Undefined where nothing changes: the API
 * requires no client certificates, or its list is so already.
 */
export function setClientCertificate<T>(
  format: DefinitionFormat,
  definition: T,
  certificateId: string,
  isAllowed: boolean,
): T | undefined {
  const { clientCertificates } =
    format === 'classic' ? classicToModel(definition as ClassicDefinition) : oasToModel(definition as OasDefinition);
  const { enabled, allowlist } = clientCertificates;
  if (allowlist.includes(certificateId) === isAllowed || (isAllowed && !enabled)) return undefined;
  const next = structuredClone(definition) as JsonObject;
  const others = allowlist.filter(id => id !== certificateId);
  setAt(next, clientPaths[format], isAllowed ? [...others, certificateId] : others);
  return next as T;
}
