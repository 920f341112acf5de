import { negation } from '../field-codecs.ts';
import { flagRule, textRule } from '../rules.ts';

export const pluginFields = {
  enabled: { rule: flagRule, classic: negation('disabled'), about: 'Enables the plugin.' },
  functionName: { rule: textRule, classic: 'name', about: 'Name of the function or object.' },
  path: { rule: textRule, interpolation: 'nothing', about: 'Path of the plugin file.' },
  code: { rule: textRule, interpolation: 'nothing', about: 'Source in base64; takes precedence over the file.' },
  rawBodyOnly: {
    rule: flagRule,
    classic: 'raw_body_only',
    about: 'Passes the body as bytes only; to JavaScript and TypeScript as a text with one character for each byte.',
  },
  requireSession: { rule: flagRule, classic: 'require_session', about: 'Passes the session to the plugin.' },
} as const;
