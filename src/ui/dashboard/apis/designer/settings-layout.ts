import { type FormSchema, findSchema, listFormFields } from '../form/form-schema.ts';

/** Section of the settings: members of `x-gw-api-gateway`, in order. What no section names appears under `other`. */
export interface SettingsSection {
  readonly id: string;
  readonly fields: readonly string[];
  /** Closed until it is opened. */
  readonly advanced?: readonly string[];
}

const sections: readonly SettingsSection[] = [
  { id: 'info', fields: ['info.name', 'info.state', 'info.expiration'] },
  {
    id: 'server',
    fields: ['server.listenPath', 'server.customDomain', 'server.gatewayTags'],
    advanced: ['server.protocol', 'server.port', 'server.batchProcessing', 'middleware.global.ignoreCase'],
  },
  {
    id: 'authentication',
    fields: ['server.authentication.enabled', 'server.authentication.stripAuthorizationData'],
    advanced: [
      'server.authentication.securityProcessingMode',
      'server.authentication.baseIdentityProvider',
      'server.authentication.security',
      'server.authentication.customKeyLifetime',
      'server.authentication.hmac',
      'server.authentication.oidc',
      'server.authentication.custom',
      'server.authentication.certificateAuth',
      'server.authentication.protectedResourceMetadata',
      'server.clientCertificates',
      'server.ipAccessControl',
    ],
  },
  {
    id: 'upstream',
    fields: ['upstream.url', 'upstream.loadBalancing', 'upstream.authentication'],
    advanced: [
      'upstream.preserveHostHeader',
      'upstream.preserveTrailingSlash',
      'upstream.serviceDiscovery',
      'upstream.tlsTransport',
      'upstream.mutualTLS',
      'upstream.certificatePinning',
      'upstream.proxy',
    ],
  },
  {
    id: 'limits',
    fields: ['upstream.rateLimit', 'middleware.global.requestSizeLimit'],
    advanced: ['middleware.global.skipRateLimit', 'middleware.global.skipQuota', 'middleware.global.skipQuotaReset'],
  },
  {
    id: 'traffic',
    fields: [
      'middleware.global.cors',
      'middleware.global.cache',
      'middleware.global.transformRequestHeaders',
      'middleware.global.transformResponseHeaders',
      'middleware.global.contextVariables',
      'middleware.global.trafficLogs',
    ],
    advanced: ['server.detailedActivityLogs', 'server.detailedTracing'],
  },
  { id: 'events', fields: ['server.eventHandlers'] },
  { id: 'uptime', fields: ['upstream.uptimeTests'] },
  { id: 'errors', fields: ['errorOverrides'] },
  {
    id: 'plugins',
    fields: [
      'middleware.global.pluginConfig',
      'middleware.global.prePlugins',
      'middleware.global.postAuthenticationPlugins',
      'middleware.global.postPlugins',
      'middleware.global.responsePlugins',
    ],
  },
];

/** Members with a page or an editor of their own, ids that the server sets, and older names of the same settings. */
const elsewhere = new Set([
  'info.id',
  'info.versioning',
  'server.authentication',
  'middleware.operations',
  'middleware.global.prePlugin',
  'middleware.global.postAuthenticationPlugin',
  'middleware.global.postPlugin',
  'middleware.global.responsePlugin',
  'upstream.test',
]);

const parents = ['', 'info', 'server', 'upstream', 'middleware', 'middleware.global'];
const isParent = new Set(parents);

export const toPath = (name: string): readonly string[] => (name === '' ? [] : name.split('.'));

/** Sections of a schema: members of the schema that the table does not name are in the last one. */
export function listSections(gateway: FormSchema): readonly SettingsSection[] {
  const named = new Set(sections.flatMap(({ fields, advanced = [] }) => [...fields, ...advanced]));
  const rest = parents.flatMap(parent => {
    const schema = findSchema(gateway, toPath(parent));
    const names = schema ? listFormFields(schema).map(([name]) => (parent ? `${parent}.${name}` : name)) : [];
    return names.filter(name => !named.has(name) && !elsewhere.has(name) && !isParent.has(name));
  });
  return rest.length === 0 ? sections : [...sections, { id: 'other', fields: rest }];
}
