import { facet } from '../facet.ts';
import { anythingRule, objectRule, textRule } from '../rules.ts';

const providerFields = {
  name: { rule: textRule, about: 'Name of the provider.' },
  storageEngine: {
    rule: textRule,
    classic: 'storage_engine',
    about: 'Storage engine; empty for the gateway’s own store.',
  },
  meta: { rule: objectRule, interpolation: 'nothing', secret: 'named', about: 'Settings of the storage engine.' },
} as const;

export const authProvider = facet({
  name: 'authProvider',
  about: 'Store of keys.',
  classic: 'auth_provider',
  oas: null,
  fields: providerFields,
});

export const sessionProvider = facet({
  name: 'sessionProvider',
  about: 'Store of sessions.',
  classic: 'session_provider',
  oas: null,
  fields: providerFields,
});

export const responseProcessors = facet({
  name: 'responseProcessors',
  about: 'Built-in response processors, in order.',
  classic: '',
  oas: null,
  fields: {
    list: {
      list: {
        name: {
          rule: textRule,
          about: 'Name of the processor: header_injector, response_body_transform or another built-in.',
        },
        options: {
          rule: anythingRule,
          interpolation: 'variables',
          secret: 'named',
          about: 'Settings of the processor.',
        },
      },
      classic: 'response_processors',
      about: 'Response processors.',
    },
  },
});
