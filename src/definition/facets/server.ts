import type { DefinitionFormat, Values } from '../facet.ts';
import { facet } from '../facet.ts';
import { negation } from '../field-codecs.ts';
import { choiceRule, flagRule, portRule, textListRule, textRule } from '../rules.ts';
import { eventHandlerList } from './event-handlers.ts';

export const listen = facet({
  name: 'listen',
  about: 'Listener of the API.',
  classic: '',
  oas: 'server',
  fields: {
    path: {
      rule: textRule,
      classic: 'proxy.listen_path',
      oas: 'listenPath.value',
      about: 'Listen path; may contain {name} or {name:pattern}.',
    },
    strip: {
      rule: flagRule,
      classic: 'proxy.strip_listen_path',
      oas: 'listenPath.strip',
      about: 'Removes the listen path from the upstream path.',
    },
    protocol: {
      rule: choiceRule('http', 'https', 'h2c', 'http2', 'tcp', 'tls', 'ws', 'wss'),
      about: 'Protocol of the listener; empty for the protocol of the gateway port.',
    },
    port: { rule: portRule, classic: 'listen_port', about: 'Dedicated port; 0 for the gateway port.' },
    proxyProtocol: {
      rule: flagRule,
      classic: 'enable_proxy_protocol',
      oas: null,
      about: 'Reads a PROXY protocol header on raw TCP services.',
    },
  },
});

export const customDomain = facet({
  name: 'customDomain',
  about: 'Custom domain of the API.',
  classic: '',
  oas: 'server.customDomain',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('domain_disabled'),
      requiresAnyOf: ['name'],
      about: 'Serves the API under the custom domain only.',
    },
    name: { rule: textRule, classic: 'domain', about: 'Host name; may contain {name} or {name:pattern}.' },
    certificates: { rule: textListRule, about: 'Ids of the certificates of the host name.' },
  },
});

export const gatewayTags = facet({
  name: 'gatewayTags',
  about: 'Tags of the gateways that load the API, where gateways have segments.',
  classic: '',
  oas: 'server.gatewayTags',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('tags_disabled'),
      requiresAnyOf: ['tags'],
      about: 'Enables the tags.',
    },
    tags: { rule: textListRule, about: 'Tags; a gateway with one of them loads the API.' },
  },
});

export const clientCertificates = facet({
  name: 'clientCertificates',
  about: 'Client certificates (mutual TLS): one of these, or one signed by them.',
  classic: '',
  oas: 'server.clientCertificates',
  fields: {
    enabled: { rule: flagRule, classic: 'use_mutual_tls_auth', about: 'Requires a client certificate.' },
    allowlist: { rule: textListRule, classic: 'client_certificates', about: 'Ids of the accepted certificates.' },
  },
});

export const ipAccess = facet({
  name: 'ipAccess',
  about: 'Access control by client address. The block list takes precedence over the allow list.',
  classic: '',
  oas: 'server.ipAccessControl',
  fields: {
    enabled: { rule: flagRule, classic: null, about: 'Enables both lists.' },
    allow: { rule: textListRule, classic: 'allowed_ips', about: 'Allowed addresses or CIDR ranges; empty for all.' },
    block: { rule: textListRule, classic: 'blacklisted_ips', about: 'Blocked addresses or CIDR ranges.' },
    controlDisabled: {
      rule: flagRule,
      classic: 'ip_access_control_disabled',
      oas: null,
      about: 'Disables both classic lists.',
    },
    allowEnabled: {
      rule: flagRule,
      classic: 'enable_ip_whitelisting',
      oas: null,
      about: 'Enables the allow list.',
    },
    blockEnabled: {
      rule: flagRule,
      classic: 'enable_ip_blacklisting',
      oas: null,
      about: 'Enables the block list.',
    },
  },
  lens: { fields: ['enabled', 'controlDisabled', 'allowEnabled', 'blockEnabled'], derive: deriveIpAccess },
});

/** The classic format enables each list separately. A disabled list is left out while the other is enabled. */
function deriveIpAccess(values: Values, from: DefinitionFormat): Values {
  const { enabled, allow, block, controlDisabled, allowEnabled, blockEnabled } = values;
  if (from === 'oas') {
    const on = (list: unknown) => enabled === true && (list as string[]).length > 0;
    return { ...values, allowEnabled: on(allow), blockEnabled: on(block), controlDisabled: false };
  }
  const either = allowEnabled === true || blockEnabled === true;
  return {
    ...values,
    enabled: either && controlDisabled !== true,
    allow: either && !allowEnabled ? [] : allow,
    block: either && !blockEnabled ? [] : block,
  };
}

export const batch = facet({
  name: 'batch',
  about: 'Batch requests: several requests in one.',
  classic: '',
  oas: 'server.batchProcessing',
  fields: {
    enabled: { rule: flagRule, classic: 'enable_batch_request_support', about: 'Enables batch requests at gw/batch/.' },
  },
});

export const detail = facet({
  name: 'detail',
  about: 'Detail of recording and tracing.',
  classic: '',
  oas: 'server',
  fields: {
    recording: {
      rule: flagRule,
      classic: 'enable_detailed_recording',
      oas: 'detailedActivityLogs.enabled',
      about: 'Stores request and response text with the analytics record.',
    },
    tracing: {
      rule: flagRule,
      classic: 'detailed_tracing',
      oas: 'detailedTracing.enabled',
      about:
        'Gives every step a span where traces are exported (`tracing.endpoint`). Otherwise continues the trace of the client, or starts one, and forwards it to the upstream.',
    },
  },
});

export const events = facet({
  name: 'events',
  about: 'Handlers of events of the API.',
  classic: 'event_handlers',
  oas: 'server',
  fields: {
    handlers: eventHandlerList,
  },
});
