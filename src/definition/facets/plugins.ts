import { negation } from '../field-codecs.ts';
import { flagRule, textRule } from '../rules.ts';

export const pluginFields = {
  enabled: { rule: flagRule, classic: negation('disabled'), about: 'Runs it.' },
  functionName: { rule: textRule, classic: 'name', about: 'The function or object that is called.' },
  path: { rule: textRule, interpolation: 'nothing', about: 'The file it is in.' },
  code: { rule: textRule, interpolation: 'nothing', about: 'The source itself in base64; it wins over the file.' },
  rawBodyOnly: { rule: flagRule, classic: 'raw_body_only', about: 'Hands over the body as bytes only.' },
  requireSession: { rule: flagRule, classic: 'require_session', about: 'Hands over the session of the caller.' },
} as const;
