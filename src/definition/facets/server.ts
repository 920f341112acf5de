import type { DefinitionFormat, Values } from '../facet.ts';
import { facet } from '../facet.ts';
import { negation } from '../field-codecs.ts';
import { choiceRule, flagRule, portRule, textListRule, textRule } from '../rules.ts';
import { eventHandlerList } from './event-handlers.ts';

export const listen = facet({
  name: 'listen',
  about: 'Where the gateway takes calls for the API.',
  classic: '',
  oas: 'server',
  fields: {
    path: {
      rule: textRule,
      classic: 'proxy.listen_path',
      oas: 'listenPath.value',
      about: 'The path the API answers under; may hold {name} or {name:pattern}.',
    },
    strip: {
      rule: flagRule,
      classic: 'proxy.strip_listen_path',
      oas: 'listenPath.strip',
      about: 'Removes the listen path before the call goes upstream.',
    },
    protocol: {
      rule: choiceRule('http', 'https', 'h2c', 'http2', 'tcp', 'tls', 'ws', 'wss'),
      about: 'What the listener speaks; empty for the protocol of the gateway port.',
    },
    port: { rule: portRule, classic: 'listen_port', about: 'A port of its own; 0 for the gateway port.' },
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
  about: 'A host name of its own for the API.',
  classic: '',
  oas: 'server.customDomain',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('domain_disabled'),
      requiresAnyOf: ['name'],
      about: 'Answers under that host only.',
    },
    name: { rule: textRule, classic: 'domain', about: 'The host name; may hold {name} or {name:pattern}.' },
    certificates: { rule: textListRule, about: 'Ids of the certificates served for the host name.' },
  },
});

export const gatewayTags = facet({
  name: 'gatewayTags',
  about: 'Which gateways load the API, where gateways are set to load by tag.',
  classic: '',
  oas: 'server.gatewayTags',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('tags_disabled'),
      requiresAnyOf: ['tags'],
      about: 'Lets the tags count.',
    },
    tags: { rule: textListRule, about: 'A gateway with one of these loads the API.' },
  },
});

export const clientCertificates = facet({
  name: 'clientCertificates',
  about: 'Callers must show one of these certificates, or one signed by them.',
  classic: '',
  oas: 'server.clientCertificates',
  fields: {
    enabled: { rule: flagRule, classic: 'use_mutual_tls_auth', about: 'Asks callers for a certificate.' },
    allowlist: { rule: textListRule, classic: 'client_certificates', about: 'Ids of the certificates let in.' },
  },
});

export const ipAccess = facet({
  name: 'ipAccess',
  about: 'Which addresses may call. A blocked address stays blocked even when it is also allowed.',
  classic: '',
  oas: 'server.ipAccessControl',
  fields: {
    enabled: { rule: flagRule, classic: null, about: 'Lets the lists count.' },
    allow: { rule: textListRule, classic: 'allowed_ips', about: 'Addresses or CIDR ranges let in; empty lets all in.' },
    block: { rule: textListRule, classic: 'blacklisted_ips', about: 'Addresses or CIDR ranges rejected.' },
    controlDisabled: {
      rule: flagRule,
      classic: 'ip_access_control_disabled',
      oas: null,
      about: 'Switches both classic lists off.',
    },
    allowEnabled: {
      rule: flagRule,
      classic: 'enable_ip_whitelisting',
      oas: null,
      about: 'Switches the allow list on.',
    },
    blockEnabled: {
      rule: flagRule,
      classic: 'enable_ip_blacklisting',
      oas: null,
      about: 'Switches the block list on.',
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
  about: 'Several calls in one request.',
  classic: '',
  oas: 'server.batchProcessing',
  fields: {
    enabled: { rule: flagRule, classic: 'enable_batch_request_support', about: 'Takes lists of calls at gw/batch/.' },
  },
});

export const detail = facet({
  name: 'detail',
  about: 'How much of each call is written down.',
  classic: '',
  oas: 'server',
  fields: {
    recording: {
      rule: flagRule,
      classic: 'enable_detailed_recording',
      oas: 'detailedActivityLogs.enabled',
      about: 'Keeps request and response text with the analytics record.',
    },
    tracing: {
      rule: flagRule,
      classic: 'detailed_tracing',
      oas: 'detailedTracing.enabled',
      about: 'Continues the trace of `traceparent`, or starts one, and forwards it to the upstream.',
    },
  },
});

export const events = facet({
  name: 'events',
  about: 'What happens when something noteworthy happens to the API.',
  classic: 'event_handlers',
  oas: 'server',
  fields: {
    handlers: eventHandlerList,
  },
});
