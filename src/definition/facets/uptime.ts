import { facet } from '../facet.ts';
import { millisecondsText, negation, secondsNumber, wholeSecondsText } from '../field-codecs.ts';
import { countRule, flagRule, secondsRule, textMapRule, textRule } from '../rules.ts';
import { discoveryFields } from './discovery.ts';

const checkFields = {
  url: { rule: textRule, interpolation: 'secret', about: 'URL or address of the host.' },
  protocol: { rule: textRule, oas: null, about: 'Protocol: tcp or tls; anything else is HTTP.' },
  timeoutMs: {
    rule: countRule,
    classic: 'timeout',
    oas: millisecondsText('timeout'),
    about: 'Timeout: milliseconds in the classic format, a duration such as 1m30s in the OpenAPI format.',
  },
  method: { rule: textRule, about: 'HTTP method; GET if empty.' },
  headers: { rule: textMapRule, interpolation: 'secret', secret: 'all', about: 'Request headers.' },
  body: { rule: textRule, interpolation: 'secret', secret: 'all', about: 'Request body in base64.' },
  enableProxyProtocol: {
    rule: flagRule,
    classic: 'enable_proxy_protocol',
    about: 'Sends a PROXY protocol header first.',
  },
  commands: {
    list: {
      name: { rule: textRule, about: 'Kind of command: send or expect.' },
      message: { rule: textRule, interpolation: 'secret', secret: 'all', about: 'Text to send or to expect.' },
    },
    about: 'Commands on a raw connection.',
  },
} as const;

export const uptimeTests = facet({
  name: 'uptimeTests',
  about: 'Uptime tests of upstream hosts.',
  classic: 'uptime_tests',
  oas: 'upstream.uptimeTests',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('disabled'),
      requiresAnyOf: ['tests'],
      about: 'Enables uptime tests.',
    },
    tests: { list: checkFields, classic: 'check_list', about: 'List of uptime tests.' },
    hostDownRetestSeconds: {
      rule: secondsRule,
      classic: secondsNumber('config.recheck_wait'),
      oas: wholeSecondsText('hostDownRetestPeriod'),
      about: 'Time after which a discovered list of tests is fetched again.',
    },
    logRetentionSeconds: {
      rule: secondsRule,
      classic: secondsNumber('config.expire_utime_after'),
      oas: wholeSecondsText('logRetentionPeriod'),
      about: 'Time for which results are stored; 0 for `analytics.retention_days`.',
    },
  },
});

export const uptimeDiscovery = facet({
  name: 'uptimeDiscovery',
  about: 'Service discovery of the list of uptime tests.',
  classic: 'uptime_tests.config.service_discovery',
  // `test` is the older name of `uptimeTests`.
  oas: ['upstream.uptimeTests.serviceDiscovery', 'upstream.test.serviceDiscovery'],
  fields: discoveryFields,
});
