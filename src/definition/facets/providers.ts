import { facet } from '../facet.ts';
import { anythingRule, objectRule, textRule } from '../rules.ts';

const providerFields = {
  name: { rule: textRule, about: 'Its name.' },
  storageEngine: {
    rule: textRule,
    classic: 'storage_engine',
    about: 'Where it looks; empty for the gateway’s own store.',
  },
  meta: { rule: objectRule, interpolation: 'nothing', secret: 'named', about: 'Settings of that store.' },
} as const;

export const authProvider = facet({
  name: 'authProvider',
  about: 'Where keys are looked up.',
  classic: 'auth_provider',
  oas: null,
  fields: providerFields,
});

export const sessionProvider = facet({
  name: 'sessionProvider',
  about: 'Where sessions are looked up.',
  classic: 'session_provider',
  oas: null,
  fields: providerFields,
});

export const responseProcessors = facet({
  name: 'responseProcessors',
  about: 'Built-in changes of answers, in order.',
  classic: '',
  oas: null,
  fields: {
    list: {
      list: {
        name: { rule: textRule, about: 'header_injector, response_body_transform or another built-in.' },
        options: { rule: anythingRule, interpolation: 'variables', secret: 'named', about: 'Its settings.' },
      },
      classic: 'response_processors',
      about: 'The processors.',
    },
  },
});
